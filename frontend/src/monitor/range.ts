/** How far back charts look: so many seconds up to now, or between two moments. */
export type Range = Named | { from: number; to: number };
export type Named = keyof typeof NAMED;

/** The ranges that end now, in seconds. */
export const NAMED = {
  quarter: 900,
  hour: 3_600,
  day: 86_400,
  week: 604_800,
  month: 2_592_000,
} as const;

const FIRST: Named = "hour";

/** A range as an address says it: its name, or two moments as ISO 8601 does; else the last hour. */
export function readRange(said: string | null): Range {
  if (said === null) return FIRST;
  if (Object.hasOwn(NAMED, said)) return said as Named;
  const [from, to] = said.split("/").map((moment) => Date.parse(moment) / 1000);
  return from !== undefined && to !== undefined && from < to ? { from, to } : FIRST;
}

/** The other way round; null for what an address need not say. */
export function writeRange(range: Range): string | null {
  if (typeof range === "string") return range === FIRST ? null : range;
  return [range.from, range.to].map(iso).join("/");
}

/** Where a range begins and ends, in seconds since 1970. */
export function boundsOf(range: Range, now: number): { from: number; to: number } {
  return typeof range === "string" ? { from: now - NAMED[range], to: now } : range;
}

export function isLive(range: Range): range is Named {
  return typeof range === "string";
}

export function iso(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
