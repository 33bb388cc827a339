import { expect, test } from "vitest";
import { sparkPath } from "./sparkPath";

const frame = { from: 100, to: 200, width: 100, height: 24 };
const at = (moment: number, value: number | null) => ({ at: moment, value });

test.each([
  ["nothing", [], ""],
  ["from nothing to its highest", [at(100, 0), at(150, 10), at(200, 5)], "M0 22L50 2L100 12"],
  ["always nothing, a line at the bottom", [at(100, 0), at(200, 0)], "M0 22L100 22"],
  ["what is unknown leaves a gap", [at(100, 1), at(120, null), at(140, 1)], "M0 2M40 2"],
  ["what is older begins at the edge", [at(40, 4), at(200, 4)], "M0 2L100 2"],
])("%s", (_, points, path) => expect(sparkPath(points, frame)).toBe(path));
