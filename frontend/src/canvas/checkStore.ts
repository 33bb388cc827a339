import { createStore, type StoreApi } from "zustand";
import type { CheckedStep, Problem, Segment } from "../api/types";

/** What the newest check of the drawn graph said. */
export interface CheckState {
  problems: Problem[];
  steps: Record<string, CheckedStep>;
  segments: Segment[];
  /** True while an answer for the newest change is awaited. */
  checking: boolean;
  /** Whether Spark had its say on the columns. */
  analyzed: boolean;
}

export const NOTHING_CHECKED: CheckState = {
  problems: [],
  steps: {},
  segments: [],
  checking: true,
  analyzed: false,
};

export function createCheckStore(first: Partial<CheckState> = {}): StoreApi<CheckState> {
  return createStore(() => ({ ...NOTHING_CHECKED, ...first }));
}

/** The errors on one step. */
export function errorsOn(problems: Problem[], step: string): number {
  return problems.filter((p) => p.step === step && p.severity === "error").length;
}
