import { createStore, type StoreApi } from "zustand";
import { ApiError } from "../api/session";

export interface Draft<G> {
  name: string;
  graph: G;
}

/** What somebody else saved in between. */
export interface Theirs<G> extends Draft<G> {
  revision: number;
}

export interface SaveState<G> {
  status: "saved" | "unsaved" | "saving" | "conflict" | "failed";
  /** Why it failed, as a sentence. */
  message: string;
  theirs: Theirs<G> | null;
}

export interface Autosave<G> {
  state: StoreApi<SaveState<G>>;
  /** The draft is now this; it is saved once it has been left alone for a moment. */
  changed: (draft: Draft<G>) => void;
  /** Save at once what is not saved yet; true when all is. */
  flush: () => Promise<boolean>;
  /** After a conflict: save one's own draft over theirs. */
  keepMine: () => Promise<boolean>;
  /** After a conflict: go on from their draft, which is answered. */
  takeTheirs: () => Theirs<G> | null;
  /** Nothing is saved after this. */
  stop: () => void;
}

const RETRY_MS = 5_000;

/**
 * Keep a draft saved. `save` gets the draft and the revision it was made from, and answers the new
 * revision; an ApiError of status 409 is a conflict, which waits for a choice, and any other is
 * tried again.
 */
export function createAutosave<G>(
  first: number,
  save: (draft: Draft<G>, revision: number) => Promise<number>,
  delayMs = 700,
): Autosave<G> {
  const state = createStore<SaveState<G>>(() => ({ status: "saved", message: "", theirs: null }));
  let revision = first;
  let waiting: Draft<G> | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let underWay: Promise<void> | null = null;
  let stopped = false;

  function changed(draft: Draft<G>) {
    waiting = draft;
    if (state.getState().status === "conflict") return;
    if (state.getState().status !== "saving") state.setState({ status: "unsaved" });
    later(delayMs);
  }

  function later(ms: number) {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(() => void flush(), ms);
  }

  async function flush(): Promise<boolean> {
    clearTimeout(timer);
    if (underWay) await underWay;
    while (waiting && !stopped && state.getState().status !== "conflict") {
      underWay = saveOnce(waiting);
      await underWay;
      underWay = null;
      if (state.getState().status === "failed") return false;
    }
    return waiting === null;
  }

  async function saveOnce(draft: Draft<G>) {
    waiting = null;
    state.setState({ status: "saving" });
    try {
      revision = await save(draft, revision);
      state.setState({ status: waiting ? "unsaved" : "saved", message: "" });
    } catch (error) {
      waiting ??= draft;
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 409) {
        const { name = draft.name, graph, revision: newer = revision } = error.answer;
        const theirs = { name: name ?? draft.name, graph: graph as G, revision: newer ?? revision };
        state.setState({ status: "conflict", message: error.message, theirs });
      } else {
        state.setState({ status: "failed", message: error.message });
        // What is refused stays refused until it is changed; what got lost is sent again.
        if (error.status === 0 || error.status >= 500) later(RETRY_MS);
      }
    }
  }

  return {
    state,
    changed,
    flush,
    keepMine: () => {
      revision = state.getState().theirs?.revision ?? revision;
      state.setState({ status: "unsaved", theirs: null, message: "" });
      return flush();
    },
    takeTheirs: () => {
      const { theirs } = state.getState();
      if (theirs) revision = theirs.revision;
      waiting = null;
      state.setState({ status: "saved", theirs: null, message: "" });
      return theirs;
    },
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
