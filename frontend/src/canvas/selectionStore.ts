import { createStore, type StoreApi } from "zustand";

export interface SelectionState {
  steps: string[];
  /** A field the step panel shall show and focus: set by following a problem. */
  field: { step: string; field: string; at: number } | null;
}

export function createSelectionStore(): StoreApi<SelectionState> {
  return createStore(() => ({ steps: [], field: null }));
}

export function select(store: StoreApi<SelectionState>, steps: string[]): void {
  const now = store.getState().steps;
  if (now.length === steps.length && steps.every((step) => now.includes(step))) return;
  store.setState({ steps });
}
