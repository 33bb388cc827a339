/** Rows per second at a moment, in seconds since 1970. */
export interface Point {
  at: number;
  rate: number;
}

const MOST = 3_600;

/** The points with a newer one; one that is not newer changes nothing. */
export function addPoint(points: Point[], point: Point): Point[] {
  const last = points.at(-1);
  if (last && point.at <= last.at) return points;
  return [...points.slice(-MOST + 1), point];
}

/** What a line of points says: newest, highest and mean rate; null where there is none. */
export function summarize(points: Point[]): { now: number; peak: number; mean: number } | null {
  const last = points.at(-1);
  if (!last) return null;
  const rates = points.map(({ rate }) => rate);
  return {
    now: last.rate,
    peak: Math.max(...rates),
    mean: rates.reduce((sum, rate) => sum + rate, 0) / rates.length,
  };
}
