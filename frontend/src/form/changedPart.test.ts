import { expect, test } from "vitest";
import { changedPart } from "./changedPart";

test.each([
  ["amount", "price", ["", "amount", "price", ""]],
  ["lower(amount) > 1", "lower(account) > 1", ["lower(", "amount", "account", ") > 1"]],
  ["a + amount * amount", "a + x * x", ["a + ", "amount * amount", "x * x", ""]],
  ["amount + 1", "amount_2 + 1", ["", "amount", "amount_2", " + 1"]],
  [
    "select one, two, three, four, five from rows where amount > 1 and this is long enough",
    "select one, two, three, four, five from rows where price > 1 and this is long enough",
    ["… five from rows where ", "amount", "price", " > 1 and this is long …"],
  ],
])("from %s to %s", (before, after, [head, removed, added, tail]) =>
  expect(changedPart(before, after)).toEqual({ head, removed, added, tail }),
);
