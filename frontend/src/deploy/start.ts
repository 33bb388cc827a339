import type { FromOffsets, FromTime } from "../api/client";
import type { Graph } from "../api/graph";

/** Where sources begin to read, as the API takes it. */
export type Start = "earliest" | "latest" | FromTime | FromOffsets;
export type Offsets = FromOffsets["offsets"];

/** `steps` leaves it to what each source says of itself. */
export const WAYS = ["steps", "earliest", "latest", "timestamp", "offsets"] as const;
export type Way = (typeof WAYS)[number];

/** What stands in a form that asks where to begin; a way that is not chosen keeps what it had. */
export interface Chosen {
  way: Way;
  /** A moment of this browser's clock. */
  time: string;
  offsets: Offsets;
}

/** As Kafka's readers write the two ends of a partition. */
export const FIRST = -2;
export const END = -1;

export interface SourceTopics {
  connection: string;
  topics: string[];
  /** A source may name its topics by a pattern instead. */
  pattern: string | null;
}

const SOURCES = new Set(["kafka_source", "kafka_table"]);

/** Which topics the sources of a graph read, one entry for each source. */
export function sourceTopics(graph: Graph): SourceTopics[] {
  return graph.steps.flatMap(({ type, config }) => {
    if (!SOURCES.has(type) || typeof config.connection !== "string") return [];
    const { topics, topic_pattern: pattern } = config;
    return [
      {
        connection: config.connection,
        topics: Array.isArray(topics) ? topics.filter((name) => typeof name === "string") : [],
        pattern: typeof pattern === "string" && pattern ? pattern : null,
      },
    ];
  });
}

/** The ids of the sources that are read as tables: what begins late lacks the keys from before. */
export function tablesOf(graph: Graph): string[] {
  return graph.steps.filter(({ type }) => type === "kafka_table").map(({ id }) => id);
}

/** The topics that sources read, with their partitions, of those that a connection has. */
export function partitionsOf(
  sources: SourceTopics[],
  known: Record<string, { topic: string; partitions: number }[]>,
): Map<string, number> {
  const found = new Map<string, number>();
  for (const { connection, topics, pattern } of sources)
    for (const { topic, partitions } of known[connection] ?? [])
      if (topics.includes(topic) || (pattern && matches(pattern, topic)))
        found.set(topic, partitions);
  return found;
}

/** Every partition with its offset: the first that there is where nothing was chosen. */
export function allOffsets(partitions: Map<string, number>, chosen: Offsets): Offsets {
  return Object.fromEntries(
    [...partitions].map(([topic, count]) => [
      topic,
      Object.fromEntries(
        Array.from({ length: count }, (_, n) => [String(n), chosen[topic]?.[n] ?? FIRST]),
      ),
    ]),
  );
}

/**
 * What was chosen, as the API takes it: undefined where the sources decide, null as long as
 * something is missing.
 */
export function startOf(chosen: Chosen, partitions: Map<string, number>): Start | undefined | null {
  switch (chosen.way) {
    case "steps":
      return undefined;
    case "timestamp": {
      const moment = new Date(chosen.time);
      return Number.isNaN(moment.getTime()) ? null : { timestamp: moment.toISOString() };
    }
    case "offsets":
      return partitions.size > 0 ? { offsets: allOffsets(partitions, chosen.offsets) } : null;
    default:
      return chosen.way;
  }
}

function matches(pattern: string, topic: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`).test(topic);
  } catch {
    // Patterns are Java's: those that a browser can't read name no topics here.
    return false;
  }
}
