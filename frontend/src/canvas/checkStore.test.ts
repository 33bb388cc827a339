import { expect, test } from "vitest";
import type { CheckedStep } from "../api/types";
import { remembered } from "./checkStore";

const step = (column: string): CheckedStep => ({
  kind: "stream",
  key: [],
  columns: [{ name: column, type: "int" }],
  mode: "real_time",
  segment: "s",
});

test("of a step that can't be checked now, its columns are remembered", () => {
  const steps = [{ id: "a" }, { id: "b" }];
  const found = remembered(
    { a: step("old"), b: step("x"), gone: step("y") },
    { a: step("new") },
    steps,
  );
  expect(found).toEqual({ a: step("new"), b: { ...step("x"), mode: null, segment: null } });
});
