import type { Graph } from "../api/graph";
import type { Metrics, Segment } from "../api/types";

/** Rows that wait to be read, and how long the oldest of them does. */
export interface Lag {
  rows: number;
  seconds: number | null;
}

export interface Waiting extends Lag {
  /** They have become more and more for a while. */
  growing: boolean;
}

/** What waits where: before a source, on an edge between segments, for a whole segment. */
export type Place = string;
export const beforeStep = (step: string): Place => `step ${step}`;
export const onEdge = (from: string, to: string): Place => `edge ${from} ${to}`;
export const forSegment = (segment: string): Place => `segment ${segment}`;

const INTERNAL = /^headrace\..+\.([a-z0-9_]+)\.rows$/;

/** Where the rows wait that segments have still to read. */
export function lagsOf(
  graph: Graph,
  segments: Pick<Segment, "id" | "steps">[],
  metrics: Pick<Metrics, "segments">,
): Record<Place, Lag> {
  const found: Record<Place, Lag> = {};
  for (const { id, steps } of segments) {
    const ofOne: Record<Place, Lag> = {};
    const { lag, lag_seconds: late } = metrics.segments[id] ?? {};
    for (const [partition, rows] of Object.entries(lag ?? {})) {
      if (rows === null) continue;
      const topic = partition.slice(0, partition.lastIndexOf("-"));
      const one = { rows, seconds: late?.[partition] ?? null };
      for (const place of [forSegment(id), ...placesOf(graph, steps, topic)])
        ofOne[place] = together(ofOne[place], one, (a, b) => a + b);
    }
    // Rows that two segments read wait for the later of them.
    for (const [place, one] of Object.entries(ofOne))
      found[place] = together(found[place], one, Math.max);
  }
  return found;
}

/** Where the rows of a topic wait for these steps. */
function placesOf(graph: Graph, steps: string[], topic: string): Place[] {
  const giver = INTERNAL.exec(topic)?.[1];
  if (giver !== undefined)
    return graph.edges
      .filter(({ from, to }) => from === giver && steps.includes(to))
      .map(({ from, to }) => onEdge(from, to));
  const entered = new Set(graph.edges.map(({ to }) => to));
  const sources = graph.steps.filter(({ id }) => steps.includes(id) && !entered.has(id));
  const named = sources.filter(({ config }) =>
    [config.topic, config.topics].flat().includes(topic),
  );
  // One that reads by a pattern names none.
  const readers = named.length > 0 ? named : sources.filter(({ config }) => config.pattern);
  return readers.map(({ id }) => beforeStep(id));
}

function together(
  before: Lag | undefined,
  now: Lag,
  rows: (before: number, now: number) => number,
): Lag {
  if (!before) return now;
  const seconds = [before.seconds, now.seconds].filter((s) => s !== null);
  return {
    rows: rows(before.rows, now.rows),
    seconds: seconds.length > 0 ? Math.max(...seconds) : null,
  };
}

export interface Sample {
  /** In seconds. */
  at: number;
  lags: Record<Place, Lag>;
}

// Micro-batches have rows wait and then take them; only what grows over several is told.
const WINDOW_SECONDS = 30;
const LEAST_SAMPLES = 6;
const LATE_SECONDS = 10;
const FEW_ROWS = 10;

/** The samples of the last half minute, with a newer one. */
export function addSample(samples: Sample[], sample: Sample): Sample[] {
  const last = samples.at(-1);
  if (last && sample.at <= last.at) return samples;
  return [...samples.filter(({ at }) => at > sample.at - WINDOW_SECONDS), sample];
}

/** The places where rows wait for long, or more and more of them do. */
export function waitingIn(samples: Sample[]): Record<Place, Waiting> {
  const newest = samples.at(-1)?.lags ?? {};
  const found: Record<Place, Waiting> = {};
  for (const [place, lag] of Object.entries(newest)) {
    const growing = isGrowing(samples.map(({ lags }) => lags[place]?.rows ?? 0));
    if (growing || (lag.seconds ?? 0) >= LATE_SECONDS) found[place] = { ...lag, growing };
  }
  return found;
}

/** Whether all of the newer half is above all of the older half. */
function isGrowing(rows: number[]): boolean {
  if (rows.length < LEAST_SAMPLES) return false;
  const half = Math.floor(rows.length / 2);
  return Math.min(...rows.slice(half)) > Math.max(...rows.slice(0, half), FEW_ROWS);
}
