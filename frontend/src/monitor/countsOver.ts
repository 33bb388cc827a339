import type { MetricPoint, StepMetrics } from "../api/types";

type Steps = MetricPoint["steps"];
const COUNTS = ["in", "out", "dropped", "errors"] as const;

/**
 * What each step counted over a span, and its mean rate: by how much counts grew from point to
 * point. `before` is what had been counted when the span began; null where nothing is known of
 * that, so that the first point is what all others are compared with. A count that fell began
 * anew.
 */
export function countsOver(
  before: { steps: Steps } | null,
  points: { steps: Steps }[],
  seconds: number,
): Record<string, StepMetrics> {
  const all = before ? [before, ...points] : points;
  const steps: Record<string, StepMetrics> = {};
  const told = points.length > 0 ? points : all;
  for (const id of new Set(told.flatMap((point) => Object.keys(point.steps)))) {
    const counts = all.map((point) => point.steps[id]);
    const counted = COUNTS.map((name) => [name, grown(counts.map((step) => step?.[name] ?? null))]);
    const known = Object.fromEntries(counted) as Record<(typeof COUNTS)[number], number | null>;
    steps[id] = { ...known, rate: seconds > 0 ? (known.out ?? 0) / seconds : 0 };
  }
  return steps;
}

/**
 * What had been counted when a span began: as the history tells it, nothing where the deployment
 * was made since, else null: not known.
 */
export function countedBefore(
  { before, from }: { before: { steps: Steps } | null; from: string },
  madeAt: string,
): { steps: Steps } | null {
  return before ?? (Date.parse(madeAt) >= Date.parse(from) ? { steps: {} } : null);
}

/** By how much a count grew; null where it is never known. */
function grown(told: (number | null)[]): number | null {
  let before: number | null = null;
  let all: number | null = null;
  for (const [i, now] of told.entries()) {
    if (now === null) continue;
    // A step that was not there at first has counted from nothing.
    const then: number = before ?? (i === 0 ? now : 0);
    all = (all ?? 0) + (now < then ? now : now - then);
    before = now;
  }
  return all;
}
