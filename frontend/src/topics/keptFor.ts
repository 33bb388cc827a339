const UNITS = [
  ["days", 86_400_000],
  ["hours", 3_600_000],
  ["minutes", 60_000],
  ["seconds", 1_000],
] as const;

/** How long records are kept, in the largest unit that says it whole; null for ever. */
export function keptFor(ms: number): { unit: (typeof UNITS)[number][0]; count: number } | null {
  if (ms < 0) return null;
  for (const [unit, size] of UNITS) {
    if (ms >= size && ms % size === 0) return { unit, count: ms / size };
  }
  return { unit: "seconds", count: ms / 1_000 };
}
