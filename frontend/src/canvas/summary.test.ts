import { expect, test } from "vitest";
import { summary } from "./summary";

test.each([
  ["kafka_source", { topics: ["page-views", "clicks"] }, "page-views, clicks"],
  ["filter", { condition: "product is not null" }, "product is not null"],
  [
    "aggregate",
    {
      group_by: ["product"],
      aggregations: [{ name: "views", function: "count" }],
      window: { kind: "tumbling", size: "10 seconds" },
    },
    "count by product, 10 s windows",
  ],
  [
    "aggregate",
    {
      aggregations: [{ name: "m", function: "max", expression: "price" }],
      window: { kind: "hopping", size: "5 minutes", advance: "1 minute" },
    },
    "max of price, 5 min windows every 1 min",
  ],
  ["join", { kind: "left", on: [{ left: "id", right: "id" }] }, "left join on id"],
  ["join", { on: [{ left: "a", right: "b" }] }, "inner join on a = b"],
  ["join", {}, "inner join"],
  ["select", { columns: [{ name: "a" }, { name: "b" }], keep: "listed" }, "only a, b"],
  ["branch", { branches: [{ name: "cheap" }] }, "cheap · otherwise"],
  [
    "join",
    { on: [{ left: "id", right: "id" }], within: { before: "5 seconds", after: "1 minute" } },
    "inner join on id, 5 s before to 1 min after",
  ],
  [
    "aggregate",
    {
      aggregations: [{ name: "n" }],
      group_by: ["user"],
      window: { kind: "session", gap: "30 minutes" },
    },
    "count by user, sessions, 30 min gap",
  ],
  [
    "aggregate",
    { aggregations: [{ name: "n" }], window: { kind: "sliding", size: "10 seconds" } },
    "count, 10 s sliding windows",
  ],
  ["key_by", { columns: ["user", "shop"] }, "user, shop"],
  ["key_by", { expression: "lower(user)" }, "lower(user)"],
  ["deduplicate", { columns: ["id"], within: "10 minutes" }, "id within 10 min"],
  ["peek", {}, "newest rows"],
  ["sql", { query: "SELECT user\n  FROM rows" }, "SELECT user FROM rows"],
  ["reduce", { expression: "acc + amount", group_by: ["user"] }, "acc + amount by user"],
  ["to_table", { key: ["user"] }, "by user"],
  ["to_stream", {}, "each change"],
  ["python_map", { code: "import json\n\ndef tidy(row):\n    return row" }, "tidy(row)"],
  ["python_map", { code: "nothing yet" }, ""],
  ["python_processor", { key: ["user"], code: "class Idle:\n    pass" }, "Idle by user"],
  ["kafka_table", { topics: ["people"], key: ["id"] }, "people by id"],
  ["kafka_sink", {}, ""],
  ["something_new", { text: "its own words" }, "its own words"],
  ["aggregate", { aggregations: "nonsense", group_by: 7, window: null }, ""],
])("%s %j", (type, config, says) => {
  expect(summary({ id: "s", type, config })).toBe(says);
});
