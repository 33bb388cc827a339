import { expect, test } from "vitest";
import { spanOf } from "./ResultRows";

test.each([
  ["2026-01-01T10:00:10.000Z", "2026-01-01T10:00:15.000Z", "2026-01-01 10:00:10 → 10:00:15"],
  [
    "2026-01-01T23:59:58.500Z",
    "2026-01-02T00:00:00.000Z",
    "2026-01-01 23:59:58.500 → 2026-01-02 00:00:00",
  ],
])("the window from %s to %s reads %s", (start, end, says) => {
  expect(spanOf({ start, end })).toBe(says);
});

test.each([
  { start: 1, end: 2 },
  { start: "2026-01-01T10:00:10Z" },
  [],
  { start: "a", end: "b", c: 1 },
])("%j is no window", (value) => {
  expect(spanOf(value)).toBe(null);
});
