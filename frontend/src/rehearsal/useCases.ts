import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import {
  deleteTestCase,
  listTestCases,
  runTestCases,
  type TestCaseOut,
  type TestCaseResult,
  updateTestCase,
} from "../api/client";
import type { Graph } from "../api/graph";
import { meaning } from "../canvas/editGraph";
import { sayError } from "../shell/say";

const MOST = 200;

export type Case = TestCaseOut;

/** The test cases of a pipeline. */
export function useCases(pipeline: string) {
  return useQuery({
    queryKey: casesKey(pipeline),
    queryFn: () => listTestCases({ path: { pipeline_id: pipeline }, query: { page_size: MOST } }),
    staleTime: 10_000,
  });
}

export function casesKey(pipeline: string) {
  return ["test-cases", pipeline];
}

/** Change and delete test cases; what is refused is said. */
export function useChangeCase(pipeline: string) {
  const queries = useQueryClient();
  const changed = () => queries.invalidateQueries({ queryKey: casesKey(pipeline) });
  const path = (id: string) => ({ pipeline_id: pipeline, case_id: id });
  const change = useMutation({
    mutationFn: ({ id, name, rows, expected }: Pick<Case, "id" | "name" | "rows" | "expected">) =>
      updateTestCase({ path: path(id), body: { name, rows, expected } }),
    onSuccess: changed,
  });
  const remove = useMutation({
    mutationFn: (id: string) => deleteTestCase({ path: path(id) }),
    onSuccess: changed,
    onError: sayError,
  });
  return { change, remove };
}

/** What came of a case in its newest run here, and of which drawing. */
export interface Ran {
  result: TestCaseResult;
  drawing: string;
}

/** Runs of the test cases on the drawing as it is, and what came of the newest of each. */
export function useCaseRuns(pipeline: string, graph: Graph, save: () => Promise<boolean>) {
  const queries = useQueryClient();
  const drawing = useMemo(() => JSON.stringify(meaning(graph)), [graph]);
  const [ran, setRan] = useState<Record<string, Ran>>({});
  const run = useMutation({
    mutationFn: async (cases: string[] | null) => {
      // What is kept of a run is kept of the saved draft; the run itself is of what is drawn.
      await save();
      return runTestCases({
        path: { pipeline_id: pipeline },
        body: { cases, graph: JSON.parse(drawing) },
      });
    },
    onSuccess: async ({ results }) => {
      const now = results.map((result) => [result.id, { result, drawing }]);
      setRan((before) => ({ ...before, ...Object.fromEntries(now) }));
      await queries.invalidateQueries({ queryKey: casesKey(pipeline) });
    },
  });
  return {
    run: run.mutate,
    running: run.isPending ? (run.variables ?? "all") : null,
    error: run.error,
    ran,
    drawing,
  };
}

export type CaseRuns = ReturnType<typeof useCaseRuns>;
