import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import type { StoreApi } from "zustand";
import { checkGraph, compileGraph } from "../api/client";
import type { Graph } from "../api/graph";
import { ApiError } from "../api/session";
import type { Mode, Problem, Segment } from "../api/types";
import { type CheckState, remembered } from "../canvas/checkStore";
import { meaning } from "../canvas/editGraph";
import { asDeployed } from "../monitor/asDeployed";

// With some 30 ms for the answer, what is wrong is said well within a quarter of a second.
const DEBOUNCE_MS = 100;

/**
 * Keep the check store up to date with what the graph means; moving a step asks nothing.
 *
 * Of a graph that was deployed, the segments are those it runs in, and what is wrong with it by
 * now is no matter.
 */
export function useCheckedGraph(
  graph: Graph,
  check: StoreApi<CheckState>,
  deployed?: Segment[],
): void {
  const said = useMemo(() => JSON.stringify(meaning(graph)), [graph]);
  const [settled] = useDebouncedValue(said, DEBOUNCE_MS);
  const answer = useQuery({
    queryKey: ["check", settled],
    queryFn: ({ signal }) => ask(settled, signal),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    gcTime: 60_000,
    retry: 1,
  });
  const { data, isFetching, isPlaceholderData } = answer;
  const edges = useRef("");
  const sound = data !== undefined && !data.problems.some((p) => p.severity === "error");
  const planned = useProgram(settled, !deployed && sound && !isPlaceholderData);
  // Each event of a deployment brings its segments anew; most are the same.
  const running = JSON.stringify(deployed);

  useEffect(() => {
    check.setState({ checking: isFetching || said !== settled });
  }, [check, isFetching, said, settled]);
  useEffect(() => {
    if (running) check.setState(asDeployed(data?.steps ?? {}, JSON.parse(running)));
    else if (data && !isPlaceholderData) {
      const drawn: Graph = JSON.parse(settled);
      const before = edges.current;
      edges.current = JSON.stringify(drawn.edges);
      check.setState(({ steps }) => ({
        ...data,
        steps: before === edges.current ? remembered(steps, data.steps, drawn.steps) : data.steps,
      }));
    }
  }, [check, data, isPlaceholderData, running, settled]);
  const segments = planned.data?.segments;
  useEffect(() => {
    if (segments) check.setState({ segments });
  }, [check, segments]);
}

/** The program a graph compiles to, by what the graph means as JSON text. */
export function useProgram(said: string, enabled: boolean, mode: "auto" | Mode = "auto") {
  return useQuery({
    queryKey: ["compile", mode, said],
    queryFn: ({ signal }) => compileGraph({ body: { graph: JSON.parse(said), mode }, signal }),
    enabled,
    staleTime: 60_000,
    gcTime: 60_000,
    retry: false,
  });
}

async function ask(said: string, signal: AbortSignal) {
  try {
    return await checkGraph({ body: { graph: JSON.parse(said) }, signal });
  } catch (error) {
    // A graph whose shape is wrong has problems, too; the server answers them with a refusal.
    if (error instanceof ApiError && error.status === 422 && error.answer.problems)
      return { problems: error.answer.problems as Problem[], steps: {}, analyzed: false };
    throw error;
  }
}
