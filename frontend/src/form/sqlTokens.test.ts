import { describe, expect, test } from "vitest";
import { aliasesOf, callAt, columnTokens, isInText, quoted } from "./sqlTokens";

const columns = (text: string) => columnTokens(text, aliasesOf(text)).map(({ name }) => name);

describe("the columns an expression names", () => {
  test.each([
    ["amount > 1 and not done", ["amount", "done"]],
    ["amount('amount', \"amount\") + amount", ["amount"]],
    ["user.amount + amount.user", ["user", "amount"]],
    ["`unit price` * `a``b`.c", ["unit price", "a`b"]],
    ["transform(xs, x -> x + y) = array(x)", ["xs", "y", "x"]],
    ["aggregate(xs, 0, (acc, x) -> acc + x.n, acc -> acc) + acc", ["xs", "acc"]],
    ["cast(amount as decimal(10, 2)) + date", ["amount", "date"]],
    ["cast(date as date) > date '2024-01-01'", ["date"]],
    ["cast(s as struct<amount:int>).amount", ["s"]],
    ["at - interval 1 day + interval '2' hour", ["at"]],
    ["extract(year from at) + year", ["at", "year"]],
    ["timestampadd(minute, minute, at)", ["minute", "at"]],
    ["date_add(day, 1)", ["day"]],
    ["case when a then b else c end", ["a", "b", "c"]],
    ["a::int + xs[i]", ["a", "xs", "i"]],
    ["größe > 1", ["größe"]],
    ["amount > 'open", ["amount"]],
    ["lower(am", ["am"]],
  ])("%s", (text, names) => expect(columns(text)).toEqual(names));
});

describe("the columns a query names", () => {
  test.each([
    ["SELECT user, amount * 2 AS amount FROM rows", ["user", "amount"]],
    ["SELECT r.amount total, rows.x FROM rows AS r WHERE r.ok", ["amount", "x", "ok"]],
    [
      "SELECT *, extract(year from at) FROM clicks c JOIN users u ON c.id = u.id",
      ["at", "id", "id"],
    ],
    ["SELECT cast(amount as int) amount FROM rows", ["amount"]],
    ["SELECT a FROM rows JOIN users USING (id)", ["a"]],
  ])("%s", (text, names) => expect(columns(text)).toEqual(names));

  test("each knows the input that it is of", () => {
    const query = "SELECT c.id, amount FROM clicks c JOIN users ON users.id = c.id";
    const found = columnTokens(query, aliasesOf(query)).map((t) => [t.name, t.input]);
    expect(found).toEqual([
      ["id", "clicks"],
      ["amount", null],
      ["id", "users"],
      ["id", "clicks"],
    ]);
  });
});

test.each([
  ["lower(|", "lower", 0],
  ["concat(a, upper(b), |", "concat", 2],
  ["concat(a, (b + |", "concat", 1],
  ["substring(s, xs[1|", "substring", 1],
  ["left(s, |2)", "left", 1],
  ["lower(a)|", null, 0],
  ["a in (1, |", null, 0],
  ["concat('a, |b')", null, 0],
  ["concat('a'|, b)", "concat", 0],
])("in %s the call is %s", (marked, name, argument) => {
  const at = marked.indexOf("|");
  const call = callAt(marked.replace("|", ""), at);
  expect(call?.name ?? null).toBe(name);
  if (call) expect(call.argument).toBe(argument);
});

test.each([
  ["'ab|c'", true],
  ["'abc|", true],
  ["'abc'|", false],
  ["a|bc", false],
  ["'it\\'s| '", true],
])("whether %s is inside of a text: %s", (marked, inside) => {
  expect(isInText(marked.replace("|", ""), marked.indexOf("|"))).toBe(inside);
});

test.each([
  ["product", "product"],
  ["unit price", "`unit price`"],
  ["a`b", "`a``b`"],
  ["order", "`order`"],
])("%s is written %s", (name, text) => expect(quoted(name)).toBe(text));
