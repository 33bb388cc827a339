import { expect, it } from "vitest";
import type { CheckedStep, Segment } from "../api/types";
import { asDeployed } from "./asDeployed";

const segments: Segment[] = [
  { id: "out", mode: "real_time", reason: "", steps: ["views", "out"] },
  { id: "views_dead_letters", mode: "micro_batch", reason: "", steps: ["views"] },
];

it("shows a step that two segments read in the first of them", () => {
  const { steps } = asDeployed({}, segments);
  expect(steps.views).toMatchObject({ segment: "out", mode: "real_time" });
});

it("keeps what a check knows of a step, but for its segment, and no problems", () => {
  const table: CheckedStep = {
    kind: "table",
    key: ["word"],
    columns: [],
    mode: "micro_batch",
    segment: "elsewhere",
  };
  const shown = asDeployed({ out: table }, segments);
  expect(shown.steps.out).toEqual({ ...table, mode: "real_time", segment: "out" });
  expect(shown.problems).toEqual([]);
});
