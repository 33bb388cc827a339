import { expect, test } from "vitest";
import type { MetricPoint } from "../api/types";
import { countedBefore, countsOver } from "./countsOver";

/** Points of one step, from how many rows it had given at each; null where it is not told of. */
function points(...out: (number | null | undefined)[]) {
  return out.map((n) => ({
    steps: (n === undefined
      ? {}
      : { a: { in: null, out: n, dropped: 0, errors: n, rate: 99 } }) as MetricPoint["steps"],
  }));
}

test.each([
  ["what was counted before does not count", points(100)[0], points(130, 150), 50],
  ["nothing new is nothing", points(100)[0], points(100), 0],
  ["no point is nothing new", points(100)[0], [], 0],
  ["without what was before, the first is compared with", null, points(100, 130), 30],
  ["a count that fell began anew", points(100)[0], points(120, 5, 25), 45],
  ["a step that came later counted from nothing", points(undefined)[0], points(undefined, 7, 9), 9],
  ["a count not told for a while is known before and after", points(4)[0], points(null, 10), 6],
])("%s", (_, before, told, expected) => {
  const { a } = countsOver(before ?? null, told, 10);
  expect(a).toEqual({
    in: null,
    out: expected,
    dropped: 0,
    errors: expected,
    rate: expected / 10,
  });
});

test("a step that the span's points do not know is left out", () => {
  expect(countsOver(points(5)[0] ?? null, points(undefined), 10)).toEqual({});
  expect(countsOver(null, [], 10)).toEqual({});
});

test("a count that is never known stays so", () => {
  expect(countsOver(null, points(null, null), 10).a).toMatchObject({ out: null, rate: 0 });
});

test.each([
  ["known from the history", points(3)[0], "2026-11-22T05:30:00Z", points(3)[0]],
  ["nothing, of a deployment made since", null, "2026-11-22T05:30:00Z", { steps: {} }],
  ["not known, of an older one", null, "2026-11-22T04:30:00Z", null],
])("what was counted before is %s", (_, before, madeAt, expected) =>
  expect(countedBefore({ before: before ?? null, from: "2026-11-22T05:00:00Z" }, madeAt)).toEqual(
    expected,
  ),
);
