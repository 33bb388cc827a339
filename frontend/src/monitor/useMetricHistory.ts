import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { getMetrics } from "../api/client";
import type { Deployment, MetricPoint } from "../api/types";
import { boundsOf, isLive, iso, NAMED, type Range, writeRange } from "./range";
import { addPoint, held, pointOf, seconds } from "./series";

const REFRESH_MS = 60_000;
const MOST_TOLD = 600;
// A line moves by about a pixel in this part of its range.
const STEPS = 900;

export interface MetricHistory {
  points: MetricPoint[];
  /** Where the range begins and ends, in seconds since 1970, by the server's clock. */
  from: number;
  to: number;
  error: Error | null;
  isPending: boolean;
}

/** What a deployment had counted over a range; where that ends now, each newer point as it comes. */
export function useMetricHistory(deployment: Deployment, range: Range): MetricHistory {
  const live = isLive(range);
  const now = useNow(live ? Math.max(NAMED[range] / STEPS, 1) * 1000 : null);
  const history = useQuery({
    queryKey: ["metrics", deployment.id, writeRange(range)],
    queryFn: async ({ signal }) => {
      const asked = Date.now() / 1000;
      const { from, to } = boundsOf(range, asked);
      const path = { deployment_id: deployment.id };
      // An open end is now, by the clock of the server; the browser's may be wrong.
      const query = live ? { from: iso(from) } : { from: iso(from), to: iso(to) };
      const found = await getMetrics({ path, query, signal });
      return { ...found, ahead: live ? Date.parse(found.to) / 1000 - asked : 0 };
    },
    refetchInterval: live ? REFRESH_MS : false,
    placeholderData: keepPreviousData,
  });
  const { data } = history;
  const told = useTold(deployment);
  const bounds = boundsOf(range, now / 1000 + (data?.ahead ?? 0));
  const { from } = bounds;
  const to = Math.max(bounds.to, live ? (told.at(-1)?.at ?? 0) : 0);
  const goesOn = live && deployment.state === "running";
  const points = useMemo(() => {
    const past = data?.points ?? [];
    const last = past.at(-1);
    const newer = live ? told.filter(({ at }) => !last || at > seconds(last)) : [];
    const all = [...past, ...newer.map(({ point }) => point)];
    return held(all, data?.every ?? 1, goesOn ? to : null);
  }, [data, told, live, goesOn, to]);
  return { points, from, to, error: history.error, isPending: history.isPending };
}

interface Told {
  at: number;
  point: MetricPoint;
}

/** The points that the websocket has told since the page is open. */
function useTold({ id, metrics }: Deployment): Told[] {
  const told = useRef<{ of: string; points: MetricPoint[] }>({ of: id, points: [] });
  return useMemo(() => {
    const before = told.current.of === id ? told.current.points : [];
    const points = metrics ? addPoint(before, pointOf(metrics), MOST_TOLD) : before;
    told.current = { of: id, points };
    return points.map((point) => ({ at: seconds(point), point }));
  }, [id, metrics]);
}

/** The time by this machine's clock, in milliseconds, looked at again and again. */
function useNow(everyMs: number | null): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (everyMs === null) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
