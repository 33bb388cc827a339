import { createContext, useContext } from "react";
import { temporal } from "zundo";
import { createStore, type StoreApi, useStore } from "zustand";
import type { Graph } from "../api/graph";

interface GraphState {
  graph: Graph;
}

/** The graph that is being drawn, with everything needed to undo it. */
export interface GraphStore {
  state: StoreApi<GraphState>;
  graph: () => Graph;
  /**
   * Change the graph: one undo step. Changes that follow each other within a second under the
   * same `burst` (as when typing into one field) are one undo step together.
   */
  change: (edit: (graph: Graph) => Graph, burst?: string) => void;
  /** Take over a graph from elsewhere; what was done before can't be undone any more. */
  replace: (graph: Graph) => void;
  undo: () => void;
  redo: () => void;
  history: StoreApi<{ pastStates: unknown[]; futureStates: unknown[] }>;
}

const BURST_MS = 1_000;
const UNDO_STEPS = 200;

export function createGraphStore(first: Graph): GraphStore {
  const state = createStore<GraphState>()(
    temporal(() => ({ graph: first }), {
      limit: UNDO_STEPS,
      equality: (before, after) => before.graph === after.graph,
    }),
  );
  const history = state.temporal;
  let last = { burst: "", at: 0 };

  function change(edit: (graph: Graph) => Graph, burst = "") {
    const graph = edit(state.getState().graph);
    if (graph === state.getState().graph) return;
    const now = Date.now();
    const goesOn = burst !== "" && burst === last.burst && now - last.at < BURST_MS;
    last = { burst, at: now };
    if (goesOn) history.getState().pause();
    state.setState({ graph });
    history.getState().resume();
  }

  function step(direction: "undo" | "redo") {
    last = { burst: "", at: 0 };
    history.getState()[direction]();
  }

  return {
    state,
    graph: () => state.getState().graph,
    change,
    replace: (graph) => {
      history.getState().pause();
      state.setState({ graph });
      history.getState().clear();
      history.getState().resume();
    },
    undo: () => step("undo"),
    redo: () => step("redo"),
    history,
  };
}

export const GraphStoreContext = createContext<GraphStore | null>(null);

export function useGraphStore(): GraphStore {
  const store = useContext(GraphStoreContext);
  if (store === null) throw new Error("There is no graph store above this component.");
  return store;
}

export function useGraph<T>(select: (graph: Graph) => T): T {
  return useStore(useGraphStore().state, ({ graph }) => select(graph));
}
