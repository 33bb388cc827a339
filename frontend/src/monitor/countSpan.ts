import type { Deployment } from "../api/types";

/** Over which time the canvas counts. */
export const COUNT_SPANS = [
  "all",
  "version",
  "hour",
  "hour_last_week",
  "today",
  "yesterday",
  "day_last_week",
  "charts",
] as const;
export type CountSpan = (typeof COUNT_SPANS)[number];

export interface Moments {
  /** In seconds since 1970. */
  from: number;
  /** Null where it goes on. */
  to: number | null;
}

const HOUR = 3_600;
const WEEK = 7 * 86_400;

/**
 * Between which moments a span counts at a time; null for all that was ever counted. `charts` is
 * the range that the charts show, whose end is null where that is now.
 */
export function momentsOf(
  span: CountSpan,
  now: number,
  runs: Deployment["runs"],
  charts: Moments,
): Moments | null {
  const day = (before: number) => midnight(now, before);
  switch (span) {
    case "all":
      return null;
    case "version":
      return { from: versionBegan(runs) ?? now, to: null };
    case "hour":
      return { from: now - HOUR, to: null };
    case "hour_last_week":
      return { from: now - WEEK - HOUR, to: now - WEEK };
    case "today":
      return { from: day(0), to: null };
    case "yesterday":
      return { from: day(1), to: day(0) };
    case "day_last_week":
      return { from: day(7), to: day(6) };
    case "charts":
      return charts;
  }
}

/** The midnight that began this day, or one some days before; days may be longer than others. */
function midnight(now: number, daysBefore: number): number {
  const date = new Date(now * 1000);
  return (
    new Date(date.getFullYear(), date.getMonth(), date.getDate() - daysBefore).getTime() / 1000
  );
}

/** When the first of the newest runs of one version began; runs come newest first. */
function versionBegan(runs: Deployment["runs"]): number | null {
  const other = runs.findIndex(({ version }) => version !== runs[0]?.version);
  const first = runs.at(other === -1 ? -1 : other - 1);
  return first ? Date.parse(first.started_at) / 1000 : null;
}
