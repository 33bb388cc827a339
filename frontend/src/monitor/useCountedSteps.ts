import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { getMetrics } from "../api/client";
import type { Deployment, StepMetrics } from "../api/types";
import { type CountSpan, momentsOf } from "./countSpan";
import { countedBefore, countsOver } from "./countsOver";
import { boundsOf, isLive, iso, type Range } from "./range";
import { pointOf } from "./series";

const REFRESH_MS = 60_000;

export interface CountedSteps {
  steps: Record<string, StepMetrics>;
  /** Whether they go on being counted. */
  live: boolean;
  /** Over which time, in words; null since the deployment was made. */
  over: string | null;
  /** Whether nothing is kept of that time. */
  unknown: boolean;
  error: Error | null;
}

const NONE = { steps: {}, live: false, unknown: false, error: null };

/**
 * What each step has counted over a span, which `over` names; of one that goes on, up to the newest
 * metrics.
 */
export function useCountedSteps(
  deployment: Deployment,
  span: CountSpan,
  range: Range,
  over: string,
): CountedSteps {
  const { id, runs, metrics, created_at } = deployment;
  const history = useQuery({
    queryKey: ["counts", id, span, span === "charts" ? range : null, span === "version" && runs[0]],
    queryFn: async ({ signal }) => {
      const now = Date.now() / 1000;
      const { from, to } = boundsOf(range, now);
      const moments = momentsOf(span, now, runs, { from, to: isLive(range) ? null : to });
      if (!moments) return null;
      const query = { from: iso(moments.from), to: moments.to === null ? null : iso(moments.to) };
      const found = await getMetrics({ path: { deployment_id: id }, query, signal });
      return { ...found, live: moments.to === null };
    },
    enabled: span !== "all",
    refetchInterval: ({ state }) => (state.data?.live ? REFRESH_MS : false),
  });
  const { data, error } = history;
  return useMemo(() => {
    if (span === "all") return { ...NONE, steps: metrics?.steps ?? {}, live: true, over: null };
    if (!data) return { ...NONE, over, error };
    const newest = data.live && metrics ? [pointOf(metrics)] : [];
    const points = [...data.points, ...newest];
    const until = Math.max(Date.parse(newest[0]?.at ?? data.to), Date.parse(data.to));
    const counted = countsOver(
      countedBefore(data, created_at),
      points,
      (until - Date.parse(data.from)) / 1000,
    );
    return {
      steps: data.live ? withRates(counted, metrics) : counted,
      live: data.live,
      over,
      unknown: data.before === null && points.length === 0,
      error: null,
    };
  }, [span, data, metrics, created_at, over, error]);
}

/** The counts with the rates of now. */
function withRates(counted: Record<string, StepMetrics>, metrics: Deployment["metrics"]) {
  return Object.fromEntries(
    Object.entries(counted).map(([id, step]) => [
      id,
      { ...step, rate: metrics?.steps[id]?.rate ?? 0 },
    ]),
  );
}
