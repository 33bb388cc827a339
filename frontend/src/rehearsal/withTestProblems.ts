import { createStore, type StoreApi } from "zustand";
import type { Problem } from "../api/types";
import type { CheckState } from "../canvas/checkStore";
import type { RehearsalState, RehearsalStore } from "./rehearsalStore";

/** What the check says, and with its problems those that the newest test of this drawing had. */
export function withTestProblems(
  check: StoreApi<CheckState>,
  rehearsal: RehearsalStore,
): StoreApi<CheckState> {
  const both = () => {
    const checked = check.getState();
    const added = addedProblems(checked.problems, rehearsal.getState());
    return added.length ? { ...checked, problems: [...checked.problems, ...added] } : checked;
  };
  const store = createStore<CheckState>(both);
  check.subscribe(() => store.setState(both()));
  rehearsal.subscribe((now, before) => {
    if (now.problems !== before.problems || now.outdated !== before.outdated)
      store.setState(both());
  });
  return store;
}

/**
 * The test's problems that the check has not found. They are warnings, as they keep nobody from
 * deploying; those of an earlier drawing may be solved by now.
 */
export function addedProblems(
  known: Problem[],
  { problems, outdated }: Pick<RehearsalState, "problems" | "outdated">,
): Problem[] {
  if (outdated !== null) return [];
  const said = new Set(known.map(nameOf));
  return problems
    .filter((problem) => !said.has(nameOf(problem)))
    .map((problem) => ({ ...problem, severity: "warning" }));
}

function nameOf({ step, message }: Problem): string {
  return `${step} ${message}`;
}
