import { expect, test } from "vitest";
import { boundsOf, readRange, writeRange } from "./range";

const five = Date.parse("2026-11-22T05:00:00Z") / 1000;

test.each([
  [null, "hour"],
  ["day", "day"],
  ["2026-11-22T05:00:00Z/2026-11-22T05:01:00Z", { from: five, to: five + 60 }],
  ["2026-11-22T05:01:00Z/2026-11-22T05:00:00Z", "hour"],
  ["2026-11-22T05:01:00Z", "hour"],
  ["toString", "hour"],
  ["", "hour"],
] as const)("%j is read as %j", (said, range) => expect(readRange(said)).toEqual(range));

test.each(["quarter", "hour", "day", "week", "month", { from: five, to: five + 7 }] as const)(
  "%j is written so that it is read again",
  (range) => expect(readRange(writeRange(range))).toEqual(range),
);

test("the usual range need not be said", () => expect(writeRange("hour")).toBeNull());

test("a named range ends now", () => {
  expect(boundsOf("quarter", five)).toEqual({ from: five - 900, to: five });
  expect(boundsOf({ from: 1, to: 2 }, five)).toEqual({ from: 1, to: 2 });
});
