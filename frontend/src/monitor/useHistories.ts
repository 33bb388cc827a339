import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { listMetrics } from "../api/client";
import { iso, NAMED } from "./range";
import { seconds } from "./series";

const REFRESH_MS = 60_000;

/** A deployment at a moment, in seconds since 1970. */
export interface Moment {
  at: number;
  rate: number | null;
  lag: number | null;
}

export const NO_HISTORY: Moment[] = [];

/** The last hour of every deployment, in few points; kept up to date once a minute. */
export function useHistories(): { from: number; of: Record<string, Moment[]> } {
  const { data } = useQuery({
    queryKey: ["metrics", "all"],
    queryFn: () => {
      const now = Date.now() / 1000;
      return listMetrics({ query: { from: iso(now - NAMED.hour), to: iso(now) } });
    },
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
  return useMemo(() => {
    const of = Object.entries(data?.deployments ?? {}).map(([id, points]) => [
      id,
      points.map((point) => ({ at: seconds(point), rate: point.rate, lag: point.lag })),
    ]);
    return { from: data ? Date.parse(data.from) / 1000 : 0, of: Object.fromEntries(of) };
  }, [data]);
}
