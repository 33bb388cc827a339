import { expect, test } from "vitest";
import { fitsCell, readCell, typedRows, writeCell } from "./cells";

test.each([
  ["12", "bigint", 12],
  [" -3 ", "int", -3],
  ["1.5", "double", 1.5],
  ["1e3", "decimal(10,2)", 1000],
  ["TRUE", "boolean", true],
  ["false", "boolean", false],
  ["2026-01-01T10:00:10Z", "timestamp", "2026-01-01T10:00:10Z"],
  ['["a", 1]', "array<string>", ["a", 1]],
  ['{"x": null}', "struct<x:int>", { x: null }],
  ["12", "string", "12"],
  ["null", "string", "null"],
  ['""', "string", ""],
  ['"12', "string", '"12'],
  ["12", null, 12],
  ["some words", null, "some words"],
  ["", "string", undefined],
  ["", "bigint", undefined],
])("%j in a column of %s is read as it", (text, type, value) => {
  expect(readCell(text, type)).toEqual({ value, fits: true });
});

test.each([
  ["1.5", "bigint"],
  ["twelve", "int"],
  ["9007199254740993", "bigint"],
  ["Infinity", "double"],
  [" ", "double"],
  ["yes", "boolean"],
  ["tomorrow", "timestamp"],
  ["[1", "array<int>"],
  ["3", "struct<x:int>"],
])("%j, which a column of %s can't hold, stays the text it is and is told of", (text, type) => {
  expect(readCell(text, type)).toEqual({ value: text, fits: false });
});

test.each([
  ["", "string"],
  ['"', "string"],
  ['"quoted"', "string"],
  ["null", "string"],
  ["12", "string"],
  ["12", null],
  ["true", null],
  [12, null],
  [12, "string"],
  [1.5, "double"],
  [true, "boolean"],
  [{ a: [1, null] }, "struct<a:array<int>>"],
  ["no number", "bigint"],
])("%j in a column of %s is written so that it reads back as it is", (value, type) => {
  const back = readCell(writeCell(value, type), type).value;
  // A number in a column of text is read as its digits, as Spark reads it.
  expect(back).toEqual(type === "string" ? String(value) : value);
});

test("a missing value is an empty cell, and fits every column", () => {
  expect(writeCell(null, "string")).toBe("");
  expect(writeCell(undefined, "int")).toBe("");
  expect(fitsCell(null, "int")).toBe(true);
  expect(fitsCell("x", "int")).toBe(false);
  expect(fitsCell(3, "int")).toBe(true);
});

test("rows of text get the types of their columns; what is empty is left out", () => {
  const types = new Map([
    ["n", "bigint"],
    ["at", "timestamp"],
    ["word", "string"],
  ]);
  expect(
    typedRows(
      [
        { n: "3", at: "2026-01-01", word: '"a"', more: "4" },
        { n: "x", at: "", word: "" },
      ],
      types,
    ),
  ).toEqual([{ n: 3, at: "2026-01-01", word: '"a"', more: "4" }, { n: "x" }]);
});
