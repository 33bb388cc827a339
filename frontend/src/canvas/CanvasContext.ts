import { createContext, useContext } from "react";
import { type StoreApi, useStore } from "zustand";
import type { CheckState } from "./checkStore";
import type { LiveState } from "./liveStore";
import type { Catalogue } from "./ports";
import type { SelectionState } from "./selectionStore";

/** What the canvas and everything around it look at, besides the graph itself. */
export interface CanvasThings {
  catalogue: Catalogue;
  check: StoreApi<CheckState>;
  live: StoreApi<LiveState>;
  selection: StoreApi<SelectionState>;
  readOnly: boolean;
}

export const CanvasContext = createContext<CanvasThings | null>(null);

export function useCanvas(): CanvasThings {
  const things = useContext(CanvasContext);
  if (things === null) throw new Error("There is no canvas around this component.");
  return things;
}

export function useCheck<T>(pick: (state: CheckState) => T): T {
  return useStore(useCanvas().check, pick);
}

export function useLive<T>(pick: (state: LiveState) => T): T {
  return useStore(useCanvas().live, pick);
}

export function useSelection<T>(pick: (state: SelectionState) => T): T {
  return useStore(useCanvas().selection, pick);
}
