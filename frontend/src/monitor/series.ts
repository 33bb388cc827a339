import type { MetricPoint, Metrics } from "../api/types";
import { rate, short } from "../text/count";
import { span } from "../text/span";

/** How the numbers of a chart are written. */
export const UNITS = {
  rate,
  rows: short,
  bytes: (n: number) => `${short(n)}B`,
  milliseconds: span,
  seconds: (n: number) => span(n * 1_000),
  per_minute: (n: number) => `${short(n)}/min`,
} as const;

type Value = number | null;

export interface Line {
  id: "rows" | "p50" | "p99" | "dropped" | "errors";
  values: Value[];
}

export interface Chart {
  id: (typeof CHARTS)[number]["id"] | "left_out";
  unit: keyof typeof UNITS;
  lines: Line[];
}

/** What charts are of: the whole deployment, or one step and the segments it is in. */
export interface Scope {
  step: string | null;
  segments: string[] | null;
}

type SegmentPoint = MetricPoint["segments"][string];
type Read = (point: MetricPoint, scope: Scope) => Value;

const CHARTS = [
  { id: "rate", unit: "rate", lines: { rows: rateOf } },
  {
    id: "latency",
    unit: "milliseconds",
    lines: { p50: worst("latency_ms"), p99: worst("latency_p99_ms") },
  },
  { id: "lag", unit: "rows", lines: { rows: total("lag") } },
  { id: "waiting", unit: "seconds", lines: { rows: worst("lag_seconds") } },
  { id: "batch", unit: "milliseconds", lines: { rows: worst("batch_ms") } },
  { id: "watermark", unit: "seconds", lines: { rows: worst("watermark_delay") } },
  { id: "state_rows", unit: "rows", lines: { rows: total("state_rows") } },
  { id: "state_bytes", unit: "bytes", lines: { rows: total("state_bytes") } },
] as const satisfies {
  id: string;
  unit: keyof typeof UNITS;
  lines: Partial<Record<string, Read>>;
}[];

/**
 * The charts that points make, all along the same moments; only those that have something to
 * show, and always the rate.
 */
export function chartsOf(points: MetricPoint[], scope: Scope): Chart[] {
  const charts: Chart[] = CHARTS.map(({ id, unit, lines }) => ({
    id,
    unit,
    lines: Object.entries<Read>(lines).map(([line, read]) => ({
      id: line as Line["id"],
      values: points.map((point) => read(point, scope)),
    })),
  }));
  const told = charts.filter(({ id, lines }) => id === "rate" || lines.some(isKnown));
  const lost = leftOut(points, scope);
  return lost.lines.some(isMoreThanNothing) ? [...told, lost] : told;
}

function isKnown({ values }: Line): boolean {
  return values.some((value) => value !== null);
}

function isMoreThanNothing({ values }: Line): boolean {
  return values.some((value) => value !== null && value > 0);
}

function rateOf(point: MetricPoint, { step }: Scope): Value {
  return step === null ? point.rate : (point.steps[step]?.rate ?? null);
}

function known(name: keyof SegmentPoint, point: MetricPoint, { segments }: Scope): number[] {
  return Object.entries(point.segments)
    .filter(([id]) => segments === null || segments.includes(id))
    .map(([, segment]) => segment[name])
    .filter((value) => value !== null && value !== undefined);
}

function worst(name: keyof SegmentPoint): Read {
  return (point, scope) => {
    const values = known(name, point, scope);
    return values.length > 0 ? Math.max(...values) : null;
  };
}

function total(name: keyof SegmentPoint): Read {
  return (point, scope) => {
    const values = known(name, point, scope);
    return values.length > 0 ? sum(values) : null;
  };
}

/** Rows dropped and dead letters per minute, from how their counts grow. */
function leftOut(points: MetricPoint[], { step }: Scope): Chart {
  const lines = (["dropped", "errors"] as const).map((id) => ({
    id,
    values: points.map((point, i) => {
      const before = points[i - 1];
      if (!before) return null;
      const [now, then] = [countIn(point, id, step), countIn(before, id, step)];
      // A count that fell began anew.
      const grown = now < then ? now : now - then;
      return (grown * 60) / Math.max(seconds(point) - seconds(before), 1);
    }),
  }));
  return { id: "left_out", unit: "per_minute", lines };
}

function countIn(point: MetricPoint, name: "dropped" | "errors", step: string | null): number {
  const steps = step === null ? Object.values(point.steps) : [point.steps[step]];
  return sum(steps.map((counts) => counts?.[name] ?? 0));
}

export function sum(values: number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

/** A point's moment, in seconds since 1970. */
export function seconds({ at }: { at: string }): number {
  return Date.parse(at) / 1000;
}

/** The newest metrics as the history will tell them. */
export function pointOf({
  at,
  rate,
  lag,
  lag_seconds,
  latency_ms,
  restarts,
  steps,
  segments,
}: Metrics): MetricPoint {
  return {
    at,
    rate,
    lag,
    lag_seconds,
    latency_ms,
    restarts,
    steps,
    segments: Object.fromEntries(
      Object.entries(segments).map(([id, now]) => [
        id,
        {
          batch_ms: now.batch_ms ?? null,
          latency_ms: now.latency_ms?.p50 ?? null,
          latency_p99_ms: now.latency_ms?.p99 ?? null,
          lag: sumOf(now.lag),
          lag_seconds: highestOf(now.lag_seconds),
          watermark_delay: now.watermark_delay ?? null,
          state_rows: now.state_rows ?? null,
          state_bytes: now.state_bytes ?? null,
        },
      ]),
    ),
  };
}

type ByPartition = Record<string, number | null> | null | undefined;

/** The sum over partitions; null where one of them is not known. */
export function sumOf(partitions: ByPartition): number | null {
  const values = Object.values(partitions ?? {});
  const known = values.filter((value) => value !== null);
  return known.length > 0 && known.length === values.length ? sum(known) : null;
}

/** The highest of those partitions that are known; null where none is. */
export function highestOf(partitions: ByPartition): number | null {
  const known = Object.values(partitions ?? {}).filter((value) => value !== null);
  return known.length > 0 ? Math.max(...known) : null;
}

/** What a line says in three numbers; null where it has none. */
export function summarize(
  at: number[],
  values: Value[],
  until: number,
): { now: number; peak: number; mean: number } | null {
  let now: number | null = null;
  let peak = Number.NEGATIVE_INFINITY;
  let [area, width] = [0, 0];
  for (const [i, value] of values.entries()) {
    if (value === null) continue;
    now = value;
    peak = Math.max(peak, value);
    // A value holds until the next one: nothing is told while nothing changes.
    const held = Math.max((at[i + 1] ?? until) - (at[i] as number), 0);
    area += value * held;
    width += held;
  }
  return now === null ? null : { now, peak, mean: width > 0 ? area / width : now };
}

/** The points with a newer one; one that is not newer changes nothing. */
export function addPoint(points: MetricPoint[], point: MetricPoint, most: number): MetricPoint[] {
  const last = points.at(-1);
  if (last && seconds(point) <= seconds(last)) return points;
  return [...points.slice(1 - most), point];
}

/**
 * Points as a line may be drawn through them: where nothing was told for longer than `every`
 * seconds nothing had changed, so the value before holds until shortly before the next.
 */
export function held(points: MetricPoint[], every: number, until: number | null): MetricPoint[] {
  const gap = Math.max(every, 1) * 2.5;
  const shown: MetricPoint[] = [];
  for (const [i, point] of points.entries()) {
    shown.push(point);
    const next = points[i + 1];
    const end = next ? seconds(next) - Math.max(every, 1) : until;
    if (end !== null && end - seconds(point) > (next ? gap : 0))
      shown.push({ ...point, at: new Date(end * 1000).toISOString() });
  }
  return shown;
}
