import { expect, test } from "vitest";
import { isTaken, MOST_BYTES, readJsonLines, writeJsonLines } from "./jsonLines";

test("each line is a row; empty lines are none", () => {
  expect(readJsonLines('{"a": 1}\n\n  \n{"a": {"b": null}, "_batch": 2}\n')).toEqual({
    rows: [{ a: 1 }, { a: { b: null }, _batch: 2 }],
    problems: [],
  });
});

test("lines that can't be read are named by their number, and the others are read", () => {
  const { rows, problems } = readJsonLines(
    ["{", "[1]", "3", "null", '{"id": 12345678901234567890}', '{"ok": true}'].join("\n"),
  );
  expect(rows).toEqual([{ ok: true }]);
  expect(problems).toEqual([
    { line: 1, why: "notJson" },
    { line: 2, why: "notObject" },
    { line: 3, why: "notObject" },
    { line: 4, why: "notObject" },
    { line: 5, why: "inexact" },
  ]);
});

test("what is written is read back the same", () => {
  const rows = [{ text: "two\nlines" }, { n: 0.1, deep: [{ x: "ä" }] }];
  expect(readJsonLines(writeJsonLines(rows))).toEqual({ rows, problems: [] });
});

test("texts of more than 5 MB are not taken, counted as they are sent", () => {
  expect(isTaken("x".repeat(MOST_BYTES))).toBe(true);
  expect(isTaken("x".repeat(MOST_BYTES + 1))).toBe(false);
  expect(isTaken("ä".repeat(MOST_BYTES / 2 + 1))).toBe(false);
});
