import { expect, test } from "vitest";
import { diffTable, type RowDiff } from "./diff";

const SAME: RowDiff = {
  op: "same",
  expected: { word: "a", count: 1 },
  found: { word: "a", count: 1, _batch: 0, _timestamp: "now" },
  columns: [],
};

test("rows that are the same stand apart; hidden columns nobody expects are not shown", () => {
  const { names, differing, same } = diffTable([SAME]);
  expect(names).toEqual(["word", "count"]);
  expect(differing).toEqual([]);
  expect(same.map(({ op }) => op)).toEqual(["same"]);
});

test("a changed row says in each differing cell what was expected", () => {
  const { differing } = diffTable([
    SAME,
    {
      op: "changed",
      expected: { word: "b", count: 2 },
      found: { word: "b", count: 3, _batch: 1 },
      columns: ["count"],
    },
  ]);
  expect(differing).toEqual([
    {
      op: "changed",
      deleted: false,
      cells: [
        { name: "word", there: true, value: "b", differs: false },
        { name: "count", there: true, value: 3, was: 2, differs: true },
      ],
    },
  ]);
});

test("missing and unexpected rows show what they have, deletions as such", () => {
  const { names, differing } = diffTable([
    { op: "missing", expected: { word: "c", _deleted: true }, found: null, columns: [] },
    { op: "unexpected", expected: null, found: { word: "d", more: null }, columns: [] },
  ]);
  expect(names).toEqual(["word", "more"]);
  expect(differing.map(({ op, deleted }) => [op, deleted])).toEqual([
    ["missing", true],
    ["unexpected", false],
  ]);
  expect(differing[0]?.cells.map(({ there, value }) => [there, value])).toEqual([
    [true, "c"],
    [false, undefined],
  ]);
});

test("a hidden column that an expected row names is shown", () => {
  const row: RowDiff = {
    op: "changed",
    expected: { n: 1, _topic: "a" },
    found: { n: 1, _topic: "b", _key: "k" },
    columns: ["_topic"],
  };
  expect(diffTable([row]).names).toEqual(["n", "_topic"]);
});
