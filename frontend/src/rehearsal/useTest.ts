import { useEffect, useMemo, useRef } from "react";
import { useTranslation } from "react-i18next";
import { rehearseGraph } from "../api/client";
import type { Graph } from "../api/graph";
import { ApiError } from "../api/session";
import type { Problem, Rows } from "../api/types";
import { meaning } from "../canvas/editGraph";
import type { Catalogue } from "../canvas/ports";
import { say, sayError } from "../shell/say";
import { sourcesOf } from "./columnsOf";
import { keepRows } from "./keepRows";
import type { RehearsalStore } from "./rehearsalStore";

const MOST_PROBLEMS = 100;

interface Props {
  pipeline: string;
  graph: Graph;
  catalogue: Catalogue;
  store: RehearsalStore;
  /** Show where rows are given, or what was wrong. */
  showTab: (tab: "rows" | "problems") => void;
}

/** Try the drawing on the rows that are given, and know when what came of it is outdated. */
export function useTest({ pipeline, graph, catalogue, store, showTab }: Props) {
  const { t } = useTranslation();
  const drawing = useMemo(() => JSON.stringify(meaning(graph)), [graph]);
  const under = useRef<AbortController | null>(null);

  useEffect(() => keepRows(store, pipeline), [store, pipeline]);
  useEffect(() => () => under.current?.abort(), []);
  useEffect(() => {
    const look = () => {
      const { of, rows, outdated } = store.getState();
      const now = changedSince(of, drawing, rows);
      if (now !== outdated) store.setState({ outdated: now });
    };
    look();
    return store.subscribe(look);
  }, [store, drawing]);

  const actions = useMemo(() => {
    async function test() {
      const { rows, startedAt } = store.getState();
      if (startedAt !== null) return;
      const drawn = JSON.parse(drawing);
      const given = givenRows(drawn, catalogue, rows);
      if (Object.keys(given).length === 0) {
        showTab("rows");
        return say(t("rehearsal.begin"));
      }
      const mine = new AbortController();
      under.current = mine;
      store.setState({ startedAt: Date.now(), failed: null });
      try {
        const body = { graph: drawn, rows: given };
        const result = await rehearseGraph({ body, signal: mine.signal });
        store.setState({ result, problems: result.problems, of: { drawing, rows } });
        const told = result.problems.some((problem) => problem.severity === "error");
        if (told) showTab("problems");
        else say(t("rehearsal.done"));
      } catch (error) {
        if (mine.signal.aborted) return;
        store.setState(refusal(error, drawing, rows));
        if (store.getState().problems.length > 0) showTab("problems");
        sayError(error);
      } finally {
        store.setState({ startedAt: null });
      }
    }
    return { test: () => void test(), cancel: () => under.current?.abort() };
  }, [store, drawing, catalogue, showTab, t]);
  useTestKey(actions.test);
  return actions;
}

/** Ctrl+Enter tests, wherever one types but in a dialog, and before an editor takes it as a line. */
function useTestKey(test: () => void) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const asked = event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
      if (!asked || (event.target as Element).closest("[role=dialog]")) return;
      event.preventDefault();
      event.stopPropagation();
      // What is being typed into, be it a cell or a text, gives what it has when it is left.
      const target = event.target as HTMLElement;
      if (target.matches("input, .cm-content")) leave(target);
      test();
    };
    document.addEventListener("keydown", onKey, { capture: true });
    return () => document.removeEventListener("keydown", onKey, { capture: true });
  }, [test]);
}

function leave(field: HTMLElement) {
  field.blur();
  field.focus();
}

/** The rows of the sources that are drawn, by source. */
export function givenRows(
  graph: Pick<Graph, "steps">,
  catalogue: Catalogue,
  rows: Record<string, Rows>,
): Record<string, Rows> {
  return Object.fromEntries(
    sourcesOf(graph, catalogue).flatMap(({ id }) => {
      const given = rows[id] ?? [];
      return given.length > 0 ? [[id, given]] : [];
    }),
  );
}

/** What is another now than when a test was made. */
export function changedSince(
  of: { drawing: string; rows: Record<string, Rows> } | null,
  drawing: string,
  rows: Record<string, Rows>,
): "drawing" | "rows" | null {
  if (of === null) return null;
  if (of.drawing !== drawing) return "drawing";
  return of.rows === rows ? null : "rows";
}

function refusal(error: unknown, drawing: string, rows: Record<string, Rows>) {
  const answered = error instanceof ApiError ? ((error.answer.problems ?? []) as Problem[]) : [];
  // Each of thousands of rows may be a problem of its own.
  const problems = answered.slice(0, MOST_PROBLEMS);
  const failed = error instanceof Error ? error.message : String(error);
  return { result: null, problems, failed, of: { drawing, rows } };
}
