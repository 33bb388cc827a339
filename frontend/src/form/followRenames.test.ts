import { expect, test } from "vitest";
import type { Config } from "../api/graph";
import { followRenames, namesIn, settled } from "./followRenames";

const graph = (config: Config) => ({ steps: [{ id: "s", type: "select", config }] });
const columns = (...names: string[]) =>
  graph({ columns: names.map((name) => ({ name, expression: "1" })) });

const before = namesIn(columns("a", "b"));

test.each([
  ["a name typed anew", columns("x", "b"), [{ step: "s", from: "a", to: "x" }]],
  ["a row moved", columns("b", "a"), []],
  ["a name emptied", columns("", "b"), []],
  ["a row removed", columns("b"), []],
  ["a row added", columns("a", "b", "c"), []],
  ["a row added and another renamed", columns("x", "b", "c"), [{ step: "s", from: "a", to: "x" }]],
  ["a name that is there already", columns("b", "b"), []],
  ["another step", { steps: [] }, []],
])("%s", (_, now, renames) => expect(followRenames(before, now).renames).toEqual(renames));

test("a rename is followed from where it began, however it is typed", () => {
  let names = before;
  for (const typed of ["ab", "abc", "", "x", "xy"])
    names = followRenames(names, columns(typed, "b")).names;
  expect(followRenames(names, columns("xyz", "b")).renames).toEqual([
    { step: "s", from: "a", to: "xyz" },
  ]);
});

test("a new column is followed from its first name", () => {
  const { names } = followRenames(before, columns("a", "b", ""));
  const next = followRenames(names, columns("a", "b", "c"));
  expect(next.renames).toEqual([]);
  expect(followRenames(next.names, columns("a", "b", "d")).renames).toEqual([
    { step: "s", from: "c", to: "d" },
  ]);
});

test("what was taken or turned down is not told again", () => {
  const names = settled(before, { step: "s", from: "a", to: "x" });
  expect(followRenames(names, columns("x", "b")).renames).toEqual([]);
});

test("aggregations and exploded elements have names, columns to group by are none", () => {
  const steps = [
    { id: "a", type: "aggregate", config: { aggregations: [{ name: "n" }], group_by: ["g"] } },
    { id: "e", type: "explode", config: { as: "word" } },
    { id: "d", type: "deduplicate", config: { columns: ["x"] } },
  ];
  expect([...namesIn({ steps })]).toEqual([
    ["a", ["n"]],
    ["e", ["word"]],
    ["d", []],
  ]);
});
