import { createContext, useContext } from "react";
import { createStore, type StoreApi, useStore } from "zustand";
import type { RehearsalOut } from "../api/client";
import type { Problem, Rows } from "../api/types";

/** The rows that are given to each source, and what came of them in the newest test. */
export interface RehearsalState {
  rows: Record<string, Rows>;
  /** The rows there were before others took their place, until one of these is changed. */
  before: Record<string, Rows> | null;
  /** False where this browser has no room to keep the rows. */
  kept: boolean;
  /** When the test began that runs now. */
  startedAt: number | null;
  result: RehearsalOut | null;
  /** What was wrong in the newest test, whether it ran or was refused. */
  problems: Problem[];
  /** Why the newest test gave no result, as a sentence. */
  failed: string | null;
  /** What the newest test was made of: the drawing as JSON text, and the rows. */
  of: { drawing: string; rows: Record<string, Rows> } | null;
  /** What has been changed since the newest test. */
  outdated: "drawing" | "rows" | null;
}

export type RehearsalStore = StoreApi<RehearsalState>;

const NOTHING: RehearsalState = {
  rows: {},
  before: null,
  kept: true,
  startedAt: null,
  result: null,
  problems: [],
  failed: null,
  of: null,
  outdated: null,
};

export function createRehearsalStore(rows: RehearsalState["rows"] = {}): RehearsalStore {
  return createStore(() => ({ ...NOTHING, rows }));
}

/** Without anything around it, nothing is tested: as where a deployment is watched. */
export const RehearsalContext = createContext<RehearsalStore>(createRehearsalStore());

export function useRehearsalStore(): RehearsalStore {
  return useContext(RehearsalContext);
}

export function useRehearsal<T>(pick: (state: RehearsalState) => T): T {
  return useStore(useRehearsalStore(), pick);
}

export function setRows(store: RehearsalStore, source: string, rows: Rows): void {
  store.setState((s) => ({ rows: { ...s.rows, [source]: rows }, before: null }));
}

/** Have other rows in place of those there are; `takeBack` brings these back. */
export function replaceRows(store: RehearsalStore, rows: RehearsalState["rows"]): void {
  store.setState((s) => {
    const lost = Object.values(s.rows).some((given) => given.length > 0);
    return { rows, before: lost ? s.rows : null };
  });
}

export function takeBack(store: RehearsalStore): void {
  store.setState((s) => ({ rows: s.before ?? s.rows, before: null }));
}

/** A source is called otherwise now; its rows stay its rows. */
export function renameSource(store: RehearsalStore, from: string, to: string): void {
  const { [from]: rows, ...others } = store.getState().rows;
  if (rows) store.setState({ rows: { ...others, [to]: rows }, before: null });
}

/** Let go of what came of the newest test. */
export function forgetResult(store: RehearsalStore): void {
  store.setState({ result: null, problems: [], failed: null, of: null, outdated: null });
}
