import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { listAlertRules, listAlerts, listSilences } from "../api/client";
import type { Message } from "../api/feed";

// Where a websocket is open news comes by it; elsewhere the badge is this old at most.
const POLL_MS = 10_000;
const MOST = 200;

/** The alerts that last, on all that one may see. */
export function useOpenAlerts() {
  return useQuery({
    queryKey: ["alerts", "open"],
    queryFn: () => listAlerts({ query: { open: true, page_size: MOST } }),
    refetchInterval: POLL_MS,
  });
}

/** A page of the alerts that are over, newest first. */
export function usePastAlerts(page: number) {
  return useQuery({
    queryKey: ["alerts", "past", page],
    queryFn: () => listAlerts({ query: { open: false, page, page_size: 25 } }),
    placeholderData: (before) => before,
  });
}

/** The rules on all that one may see, and what a rule may watch. */
export function useAlertRules(pollMs: number | false = false) {
  return useQuery({
    queryKey: ["alert-rules"],
    queryFn: () => listAlertRules({ query: { page_size: MOST } }),
    refetchInterval: pollMs,
  });
}

/** Silences, newest first, those that are over among them. */
export function useSilences() {
  return useQuery({
    queryKey: ["silences"],
    queryFn: () => listSilences({ query: { page_size: 50 } }),
  });
}

/** Have what is shown of alerts asked anew. */
export function renewAlerts(queries: QueryClient): void {
  for (const key of ["alerts", "silences"]) void queries.invalidateQueries({ queryKey: [key] });
}

/** Hears what a websocket of deployments says, and has alerts asked anew where it tells of one. */
export function useAlertNews() {
  const queries = useQueryClient();
  return useCallback(
    (message: Message<unknown, { type: string }>) => {
      const begins = message.type === "snapshot";
      if (begins || message.event.type === "alert")
        void queries.invalidateQueries({ queryKey: ["alerts"] });
    },
    [queries],
  );
}
