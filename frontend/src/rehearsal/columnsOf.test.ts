import { expect, test } from "vitest";
import { CATALOGUE } from "../api/testCatalogue";
import type { CheckedStep } from "../api/types";
import { readGraph } from "../canvas/editGraph";
import { columnsOf, shownColumns, sourcesOf, withCell } from "./columnsOf";
import { asExpected, sinksAmong, wholeSteps } from "./expected";
import { changedSince, givenRows } from "./useTest";

const GRAPH = readGraph({
  steps: [
    { id: "views", type: "kafka_source" },
    { id: "kept", type: "filter" },
    { id: "made", type: "sample_source" },
    { id: "out", type: "kafka_sink" },
    { id: "shown", type: "console_sink" },
  ],
  edges: [],
});

test("rows are given to sources, and only to those that are drawn", () => {
  expect(sourcesOf(GRAPH, CATALOGUE).map(({ id }) => id)).toEqual(["views", "made"]);
  const rows = { views: [{ a: 1 }], made: [], gone: [{ a: 2 }] };
  expect(givenRows(GRAPH, CATALOGUE, rows)).toEqual({ views: [{ a: 1 }] });
});

const SOURCE = {
  id: "views",
  type: "kafka_source",
  config: { format: "json", columns: [{ name: "user", type: "string" }, { name: "" }, null] },
};

test("a source's columns are those the check knows, without those it adds by itself", () => {
  const checked = {
    columns: [
      { name: "user", type: "string" },
      { name: "_key", type: "string" },
    ],
  } as CheckedStep;
  expect(columnsOf(SOURCE, checked)).toEqual([{ name: "user", type: "string" }]);
});

test("before a check they are those it declares; of text it is its value", () => {
  expect(columnsOf(SOURCE, undefined)).toEqual([{ name: "user", type: "string" }]);
  const text = { ...SOURCE, config: { format: "text" } };
  expect(columnsOf(text, undefined)).toEqual([{ name: "value", type: "string" }]);
});

test("a table shows other columns that rows have, but not those about the record", () => {
  const rows = [{ user: "a", more: 1 }, { value: "raw" }, { _key: "k" }];
  expect(shownColumns([{ name: "user", type: "string" }], rows)).toEqual([
    { name: "user", type: "string" },
    { name: "more", type: null },
    { name: "value", type: "string" },
  ]);
});

test("a cell is set in its place, and left out when it has no value", () => {
  expect(Object.keys(withCell({ a: 1, b: 2 }, "a", 3))).toEqual(["a", "b"]);
  expect(withCell({ a: 1, b: 2 }, "a", undefined)).toEqual({ b: 2 });
  expect(withCell({ b: 2 }, "a", null)).toEqual({ b: 2, a: null });
});

test("what differs from test to test is not expected", () => {
  const row = { n: 1, _batch: 2, _timestamp: "now", _key: "k", _topic: "t", _deleted: true };
  expect(asExpected([row])).toEqual([{ n: 1, _key: "k", _topic: "t", _deleted: true }]);
});

test("of the steps whose rows all came back, the sinks are kept", () => {
  const steps = {
    kept: { rows: [{ a: 1 }], count: 1 },
    out: { rows: [{ a: 1 }], count: 1 },
    shown: { rows: [{ a: 1 }], count: 2000 },
  };
  const whole = wholeSteps({ steps, dead_letters: [], problems: [] });
  expect(whole).toEqual(["kept", "out"]);
  expect(sinksAmong(whole, GRAPH, CATALOGUE)).toEqual(["out"]);
});

test("a result is outdated by another drawing, or by other rows", () => {
  const rows = { views: [{ a: 1 }] };
  const of = { drawing: "one", rows };
  expect(changedSince(null, "one", rows)).toBe(null);
  expect(changedSince(of, "one", rows)).toBe(null);
  expect(changedSince(of, "two", rows)).toBe("drawing");
  expect(changedSince(of, "one", { ...rows })).toBe("rows");
});
