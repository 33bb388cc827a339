import { expect, test } from "vitest";
import { inPane, isCutOff, shiftInto } from "./inView";

const pane = { width: 400, height: 300 };

test("what a smaller pane hides comes back into it, no further than needed", () => {
  expect(shiftInto({ x: 380, y: 290, width: 100, height: 60 }, pane, 10)).toEqual({
    x: -90,
    y: -60,
  });
  expect(shiftInto({ x: -30, y: 5, width: 100, height: 60 }, pane, 10)).toEqual({ x: 40, y: 5 });
});

test("what is in view, or too large for it, stays where it is", () => {
  expect(shiftInto({ x: 10, y: 10, width: 100, height: 60 }, pane, 10)).toEqual({ x: 0, y: 0 });
  expect(shiftInto({ x: -50, y: 10, width: 500, height: 60 }, pane, 10)).toEqual({ x: 0, y: 0 });
});

test("a drawing is cut off by each side of the pane", () => {
  expect(isCutOff({ x: 0, y: 0, width: 400, height: 300 }, pane)).toBe(false);
  for (const [x, y] of [
    [-1, 0],
    [0, -1],
    [1, 0],
    [0, 1],
  ] as const)
    expect(isCutOff({ x, y, width: 400, height: 300 }, pane)).toBe(true);
});

test("a box of the drawing is where the pane has been moved and zoomed to", () => {
  expect(inPane({ x: 10, y: -20, width: 100, height: 40 }, [5, 60, 0.5])).toEqual({
    x: 10,
    y: 50,
    width: 50,
    height: 20,
  });
});
