import type { Health } from "../api/client";
import type { Graph } from "../api/graph";

/** What is away, and so delays something: Headrace itself, or what it stands on. */
export type Away = "headrace" | "database" | "redis" | "control_worker" | "kafka";

export interface Delay {
  away: Away;
  /** What the check said of it. */
  message: string;
}

const WATCHED = ["database", "redis", "control_worker", "kafka"] as const;

// The one whose broker is looked after.
const LOCAL = "local";

/** What is away of all that a deployment of this graph stands on. */
export function delaysOf(health: Health, graph: Pick<Graph, "steps">): Delay[] {
  const away = WATCHED.filter((name) => health.checks[name]?.ok === false);
  const usesLocal = graph.steps.some(({ config }) => config.connection === LOCAL);
  return (
    away
      // Without Redis nobody knows of the worker.
      .filter((name) => name !== "control_worker" || !away.includes("redis"))
      .filter((name) => name !== "kafka" || usesLocal)
      .map((name) => ({ away: name, message: health.checks[name]?.message ?? "" }))
  );
}
