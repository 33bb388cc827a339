import { createStore, type StoreApi } from "zustand";
import type { Rows, StepMetrics } from "../api/types";
import type { Place, Waiting } from "./waiting";

/** What a running deployment of the drawn graph counts, by step. */
export interface LiveState {
  steps: Record<string, StepMetrics>;
  /** The newest rows of the steps that show theirs, newest last. */
  samples: Record<string, Rows>;
  /** The step at fault, where a failed deployment names one. */
  faulty: string | null;
  /** Whether rates are to be shown: rows may flow, or a time is shown in which they did. */
  on: boolean;
  /** Over which time steps are counted, in words; null since the deployment was made. */
  over: string | null;
  /** Where rows wait for long, or more and more of them do. */
  waiting: Record<Place, Waiting>;
  /** How long half of the newest rows took through each segment, in milliseconds. */
  latency: Record<string, number>;
}

export function createLiveStore(): StoreApi<LiveState> {
  return createStore(() => ({
    steps: {},
    samples: {},
    faulty: null,
    on: false,
    over: null,
    waiting: {},
    latency: {},
  }));
}

/** The number a step's card shows: rows it gave, for a sink rows it took; null where unknown. */
export function countOf(metrics: StepMetrics, isSink: boolean): number | null {
  if (!isSink) return metrics.out;
  if (metrics.in === null || metrics.out === null) return metrics.in ?? metrics.out;
  return Math.max(metrics.in, metrics.out);
}
