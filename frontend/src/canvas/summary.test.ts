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
  ["kafka_sink", {}, ""],
  ["something_new", { text: "its own words" }, "its own words"],
  ["aggregate", { aggregations: "nonsense", group_by: 7, window: null }, ""],
])("%s %j", (type, config, says) => {
  expect(summary({ id: "s", type, config })).toBe(says);
});
