import { expect, test } from "vitest";
import type { Problem } from "../api/types";
import { createCheckStore } from "../canvas/checkStore";
import { createRehearsalStore, forgetResult } from "./rehearsalStore";
import { withTestProblems } from "./withTestProblems";

function problem(step: string, message: string, severity: "error" | "warning" = "error"): Problem {
  return { step, field: null, severity, message };
}

test("problems of a test join those of the check, as warnings and never twice", () => {
  const check = createCheckStore({ problems: [problem("kept", "unknown column")] });
  const rehearsal = createRehearsalStore();
  const both = withTestProblems(check, rehearsal);
  rehearsal.setState({
    problems: [problem("kept", "unknown column"), problem("out", "divided by zero")],
  });
  expect(both.getState().problems).toEqual([
    problem("kept", "unknown column"),
    problem("out", "divided by zero", "warning"),
  ]);
  check.setState({ problems: [] });
  expect(both.getState().problems).toHaveLength(2);
});

test("they go when the drawing is another, or the results are cleared", () => {
  const rehearsal = createRehearsalStore();
  const both = withTestProblems(createCheckStore(), rehearsal);
  rehearsal.setState({ problems: [problem("out", "divided by zero")] });
  expect(both.getState().problems).toHaveLength(1);
  rehearsal.setState({ outdated: "drawing" });
  expect(both.getState().problems).toEqual([]);
  rehearsal.setState({ outdated: null });
  expect(both.getState().problems).toHaveLength(1);
  forgetResult(rehearsal);
  expect(both.getState().problems).toEqual([]);
});
