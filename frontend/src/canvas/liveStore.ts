import { createStore, type StoreApi } from "zustand";
import type { Rows, StepMetrics } from "../api/types";

/** What a running deployment of the drawn graph counts, by step. */
export interface LiveState {
  steps: Record<string, StepMetrics>;
  /** The newest rows of the steps that show theirs, newest last. */
  samples: Record<string, Rows>;
  /** The step at fault, where a failed deployment names one. */
  faulty: string | null;
  /** True while rows may flow. */
  on: boolean;
}

export function createLiveStore(): StoreApi<LiveState> {
  return createStore(() => ({ steps: {}, samples: {}, faulty: null, on: false }));
}

/** The number a step's card shows: rows it gave, for a sink rows it took; null where unknown. */
export function countOf(metrics: StepMetrics, isSink: boolean): number | null {
  if (!isSink) return metrics.out;
  if (metrics.in === null || metrics.out === null) return metrics.in ?? metrics.out;
  return Math.max(metrics.in, metrics.out);
}
