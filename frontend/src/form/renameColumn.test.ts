import { describe, expect, test } from "vitest";
import { type Config, type Edge, EMPTY_GRAPH, type Graph } from "../api/graph";
import { CATALOGUE } from "../api/testCatalogue";
import { renameColumn } from "./renameColumn";
import { renameInQuery, renameInText, renamesOfQuery } from "./renameInText";

const SOURCE: [string, string, Config] = [
  "source",
  "kafka_source",
  { columns: [{ name: "total", type: "double" }, { name: "user" }], event_time: "amount" },
];

/** A graph of steps in a row; edges that are not in the row are given besides. */
function drawn(steps: [string, string, Config][], edges?: Edge[]): Graph {
  const inARow = steps.slice(1).map(([id], i) => ({ from: steps[i]?.[0] ?? "", to: id }));
  return {
    ...EMPTY_GRAPH,
    steps: steps.map(([id, type, config]) => ({ id, type, config })),
    edges: edges ?? inARow,
  };
}

/** What `amount`, which is now `total`, changes below the source, by step and field. */
function changed(graph: Graph, known: Record<string, string[]> = {}, step = "source") {
  const at = { step, from: "amount", to: "total" };
  const { changes } = renameColumn(graph, CATALOGUE, (id) => known[id], at);
  return changes.map(({ step, field, after }) => [step, field, after]);
}

describe("in one expression", () => {
  const renames = new Map([["amount", "total"]]);
  test.each([
    ["amount > 1", "total > 1"],
    ["Amount + `amount`", "total + total"],
    ["amount(amount, 'amount')", "amount(total, 'amount')"],
    ["user.amount + amount.cents", "user.amount + total.cents"],
    ["amounts + amount_2", "amounts + amount_2"],
    ["transform(xs, amount -> amount + 1) = amount", "transform(xs, amount -> amount + 1) = total"],
    ["cast(amount as decimal(9,2))", "cast(total as decimal(9,2))"],
    ["lower(amount", "lower(total"],
  ])("%s becomes %s", (before, after) => expect(renameInText(before, renames)).toBe(after));

  test("a name that is no plain word is written in backticks", () => {
    expect(renameInText("amount * 2", new Map([["amount", "unit price"]]))).toBe(
      "`unit price` * 2",
    );
    expect(renameInText("amount * 2", new Map([["amount", "order"]]))).toBe("`order` * 2");
  });
});

describe("in a query", () => {
  const renames = new Map([["amount", "total"]]);
  const none = new Map<string, string>();
  test.each([
    [
      "SELECT amount, 2 * amount AS amount FROM rows",
      "SELECT total, 2 * total AS amount FROM rows",
    ],
    [
      "SELECT r.amount FROM rows r WHERE amount > 'amount'",
      "SELECT r.total FROM rows r WHERE total > 'amount'",
    ],
    [
      "SELECT amount FROM rows UNION ALL SELECT amount FROM others",
      "SELECT total FROM rows UNION ALL SELECT amount FROM others",
    ],
    [
      "SELECT rows.amount, o.amount FROM rows JOIN others o ON o.id = rows.amount",
      "SELECT rows.total, o.amount FROM rows JOIN others o ON o.id = rows.total",
    ],
  ])("%s", (before, after) =>
    expect(renameInQuery(before, renames, { rows: renames, others: none })).toBe(after),
  );

  test.each([
    ["SELECT amount FROM rows", ["amount"]],
    ["SELECT rows.amount FROM rows", ["amount"]],
    ["SELECT * FROM rows", ["amount"]],
    ["SELECT *, 1 AS amount FROM rows", []],
    ["SELECT amount AS x FROM rows", []],
    ["SELECT amount + 1 AS x FROM rows", []],
    ["SELECT user.amount FROM rows", []],
  ])("%s gives the new name on: %j", (query, names) =>
    expect([...renamesOfQuery(query, renames, { rows: renames }).keys()]).toEqual(names),
  );
});

describe("down the graph", () => {
  test("the source's own event time and key, conditions, expressions, keys and groups", () => {
    const graph = drawn([
      SOURCE,
      ["big", "filter", { condition: "amount > 10 and note <> 'amount'" }],
      ["more", "select", { columns: [{ name: "double", expression: "amount * 2" }] }],
      ["keyed", "key_by", { columns: ["user", "amount"] }],
      ["once", "deduplicate", { columns: ["amount"], time: "at" }],
      [
        "sums",
        "aggregate",
        {
          group_by: ["amount"],
          aggregations: [{ name: "n", function: "sum", expression: "amount" }],
        },
      ],
      [
        "out",
        "kafka_sink",
        { key: ["amount"], value: ["amount", "n"], topic_expression: "amount" },
      ],
    ]);
    expect(changed(graph)).toEqual([
      ["source", "event_time", "total"],
      ["big", "condition", "total > 10 and note <> 'amount'"],
      ["more", "columns.0.expression", "total * 2"],
      ["keyed", "columns.1", "total"],
      ["once", "columns.0", "total"],
      ["sums", "group_by.0", "total"],
      ["sums", "aggregations.0.expression", "total"],
      ["out", "key.0", "total"],
      ["out", "value.0", "total"],
      ["out", "topic_expression", "total"],
    ]);
  });

  test("it ends where another column takes the name over, or none of it goes on", () => {
    const reaches = (type: string, config: Config) =>
      changed(
        drawn([SOURCE, ["s", type, config], ["end", "filter", { condition: "amount > 1" }]]),
      ).filter(([step]) => step === "end").length;
    const amount = { name: "amount", expression: "amount + 1" };
    expect(reaches("select", { columns: [amount] })).toBe(0);
    expect(reaches("select", { columns: [{ ...amount, name: "x" }], keep: "listed" })).toBe(0);
    expect(reaches("select", { columns: [{ ...amount, name: "x" }] })).toBe(1);
    expect(reaches("explode", { expression: "xs", as: "amount" })).toBe(0);
    expect(reaches("aggregate", { group_by: ["user"], aggregations: [] })).toBe(0);
    expect(reaches("python_map", { columns: [{ name: "amount" }] })).toBe(0);
    expect(reaches("reduce", { group_by: ["amount"], expression: "acc + amount" })).toBe(1);
    expect(reaches("sql", { query: "select amount from rows" })).toBe(1);
    expect(reaches("sql", { query: "select 2 * amount as amount from rows" })).toBe(0);
  });

  test("an alias and an aggregation begin a rename of their own, and keep what they read", () => {
    const select: [string, string, Config] = [
      "s",
      "select",
      { columns: [{ name: "total", expression: "amount" }] },
    ];
    const end: [string, string, Config] = ["end", "filter", { condition: "amount > 1" }];
    expect(changed(drawn([SOURCE, select, end]), {}, "s")).toEqual([
      ["end", "condition", "total > 1"],
    ]);
    const sums: [string, string, Config] = [
      "s",
      "aggregate",
      { group_by: ["user"], aggregations: [{ name: "total", expression: "amount" }] },
    ];
    expect(changed(drawn([SOURCE, sums, end]), {}, "s")).toEqual([
      ["end", "condition", "total > 1"],
    ]);
  });

  test("one graph comes of it, and the one before stays as it was", () => {
    const graph = drawn([SOURCE, ["big", "filter", { condition: "amount > 10" }]]);
    const before = JSON.stringify(graph);
    const at = { step: "source", from: "amount", to: "total" };
    const { graph: after } = renameColumn(graph, CATALOGUE, () => undefined, at);
    expect(after.steps[1]?.config).toEqual({ condition: "total > 10" });
    expect(JSON.stringify(graph)).toBe(before);
    expect(renameColumn(after, CATALOGUE, () => undefined, at).graph).toBe(after);
  });

  test("Python that has the old name in quotes is told of, not changed", () => {
    const python = (code: string) => {
      const graph = drawn([SOURCE, ["p", "python_map", { code, columns: [{ name: "x" }] }]]);
      const at = { step: "source", from: "amount", to: "total" };
      return renameColumn(graph, CATALOGUE, () => undefined, at).byHand;
    };
    expect(python('def f(row):\n    return {"x": row["amount"]}')).toEqual(["p"]);
    expect(python("def f(row):\n    amount = row['price']")).toEqual([]);
  });

  test("steps in a circle are walked once", () => {
    const graph = drawn(
      [
        SOURCE,
        ["a", "filter", { condition: "amount > 1" }],
        ["b", "filter", { condition: "amount > 2" }],
      ],
      [
        { from: "source", to: "a" },
        { from: "a", to: "b" },
        { from: "b", to: "a" },
      ],
    );
    expect(changed(graph).map(([step]) => step)).toEqual(["source", "a", "b"]);
  });
});

describe("where streams meet", () => {
  const other: [string, string, Config] = ["other", "kafka_table", { columns: [] }];
  const end: [string, string, Config] = ["end", "filter", { condition: "amount > 1" }];

  function joined(config: Config, sides: [string, string], known: Record<string, string[]>) {
    const graph = drawn(
      [SOURCE, other, ["join", "join", config], end],
      [
        { from: sides[0], to: "join", port: "left" },
        { from: sides[1], to: "join", port: "right" },
        { from: "join", to: "end" },
      ],
    );
    return changed(graph, known).filter(([step]) => step !== "source");
  }
  const pair = (left: string, right: string) => ({ on: [{ left, right }] });

  test("only its own side of a pair changes", () => {
    expect(joined(pair("amount", "amount"), ["source", "other"], { other: ["amount"] })).toEqual([
      ["join", "on.0.left", "total"],
      ["end", "condition", "total > 1"],
    ]);
    // Those below read the left's column, whose name stays.
    expect(joined(pair("amount", "amount"), ["other", "source"], { other: ["amount"] })).toEqual([
      ["join", "on.0.right", "total"],
    ]);
  });

  test("a column beside the pairs goes on under its new name, or its prefix is lost", () => {
    const on = pair("user", "user");
    const known = { source: ["user", "total"], other: ["user", "name"] };
    expect(joined(on, ["source", "other"], known)).toEqual([["end", "condition", "total > 1"]]);
    const prefixed = { ...on, prefixes: { right: "r_" } };
    const graph = drawn(
      [
        SOURCE,
        other,
        ["join", "join", prefixed],
        ["end", "filter", { condition: "r_amount > amount" }],
      ],
      [
        { from: "other", to: "join", port: "left" },
        { from: "source", to: "join", port: "right" },
        { from: "join", to: "end" },
      ],
    );
    const both = { source: ["user", "total"], other: ["user", "amount"] };
    expect(changed(graph, both).filter(([step]) => step === "end")).toEqual([
      ["end", "condition", "total > amount"],
    ]);
  });

  test("of merged streams, all must have renamed it, or not have it", () => {
    const graph = drawn(
      [SOURCE, other, ["merge", "merge", {}], end],
      [
        { from: "source", to: "merge" },
        { from: "other", to: "merge" },
        { from: "merge", to: "end" },
      ],
    );
    const ends = (known: Record<string, string[]>) =>
      changed(graph, known).filter(([step]) => step === "end").length;
    expect(ends({ other: ["user"] })).toBe(1);
    expect(ends({ other: ["user", "amount"] })).toBe(0);
  });
});
