import { expect, test } from "vitest";
import { compareColumns } from "./compareColumns";

test("what a step adds, removes and retypes", () => {
  const before = [
    { name: "a", type: "int" },
    { name: "b", type: "string" },
    { name: "c", type: "string" },
    { name: "d", type: "int" },
  ];
  const after = [
    { name: "a", type: "int" },
    { name: "c", type: "double" },
    { name: "d", type: null },
    { name: "e", type: "int" },
  ];
  expect(compareColumns(before, after).map((c) => [c.name, c.change, c.was])).toEqual([
    ["a", "same", "int"],
    ["c", "retyped", "string"],
    ["d", "same", "int"],
    ["e", "added", null],
    ["b", "removed", "string"],
  ]);
});
