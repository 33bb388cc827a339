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

/**
 * What is known of each step: what the newest check says, and of steps it can't say anything of
 * now (one is half typed, the others read from it) what the check before said. So whoever types
 * can go on picking from the columns there were.
 */
export function remembered(
  before: Record<string, CheckedStep>,
  now: Record<string, CheckedStep>,
  steps: { id: string }[],
): Record<string, CheckedStep> {
  const missing = steps.flatMap(({ id }) => {
    const known = now[id] ? undefined : before[id];
    return known ? [[id, { ...known, mode: null, segment: null }] as const] : [];
  });
  return { ...now, ...Object.fromEntries(missing) };
}

/** The errors on one step. */
export function errorsOn(problems: Problem[], step: string): number {
  return problems.filter((p) => p.step === step && p.severity === "error").length;
}
