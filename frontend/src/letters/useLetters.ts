import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { listDeadLetters, type Replayed, replayDeadLetters } from "../api/client";

const POLL_MS = 4_000;

/** Which letters are shown. */
export interface Filter {
  step: string | null;
  error: string | null;
  search: string;
}

/** The newest dead letters of a deployment that match, and older ones page by page. */
export function useLetters(deployment: string, { step, error, search }: Filter) {
  return useInfiniteQuery({
    queryKey: ["dead-letters", deployment, step, error, search],
    queryFn: ({ pageParam, signal }) =>
      listDeadLetters({
        path: { deployment_id: deployment },
        query: {
          step: step ?? undefined,
          error: error ?? undefined,
          search,
          before: pageParam ?? undefined,
        },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.before ?? undefined,
    placeholderData: keepPreviousData,
    // Whoever has gone back to older ones reads them in peace.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 1) > 1 ? false : POLL_MS),
    retry: false,
  });
}

/** One letter, whole; undefined while it is fetched, null where it is not there any more. */
export function useLetter(deployment: string, letter: string) {
  return useQuery({
    queryKey: ["dead-letter", deployment, letter],
    queryFn: async () => {
      const found = await listDeadLetters({
        path: { deployment_id: deployment },
        query: { letter },
      });
      return found.items[0] ?? null;
    },
    staleTime: 0,
    retry: false,
  });
}

/** What came of replaying all: how many were, and why others were not. */
export interface Outcome {
  replayed: number;
  kept: string[];
}

interface All {
  deployment: string;
  step: string;
  error: string | null;
  /** Called after each portion with how many were replayed so far; false stops. */
  onPortion: (replayed: number) => boolean;
}

/** Replay all letters of a step that were not replayed yet, a portion after the other. */
export async function replayAll({ deployment, step, error, onPortion }: All): Promise<Outcome> {
  const outcome: Outcome = { replayed: 0, kept: [] };
  let after: string | null = null;
  while (true) {
    const answer: Replayed = await replayDeadLetters({
      path: { deployment_id: deployment },
      body: { all: true, step, error: error ?? undefined, after: after ?? undefined },
    });
    outcome.replayed += answer.replayed;
    outcome.kept.push(...answer.items.flatMap(({ message }) => message || []));
    after = answer.after;
    if (!answer.more || !onPortion(outcome.replayed)) return outcome;
  }
}
