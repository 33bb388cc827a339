import type { RehearsalOut } from "../api/client";
import type { Graph } from "../api/graph";
import type { Rows } from "../api/types";
import type { Catalogue } from "../canvas/ports";

// They differ from run to run, or from one order of the same rows to another.
const NOT_EXPECTED = new Set(["_batch", "_timestamp"]);

/** Rows that came out as rows to expect: without what differs from test to test. */
export function asExpected(rows: Rows): Rows {
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !NOT_EXPECTED.has(name))),
  );
}

/** The steps whose rows can be kept: all of them came back. */
export function wholeSteps(result: RehearsalOut): string[] {
  return Object.entries(result.steps).flatMap(([id, { rows, count }]) =>
    rows.length === count ? [id] : [],
  );
}

/** The sinks among some steps: what a test case looks at unless told otherwise. */
export function sinksAmong(steps: string[], graph: Graph, catalogue: Catalogue): string[] {
  const sinks = graph.steps.filter((step) => catalogue.get(step.type)?.group === "Sinks");
  return sinks.map(({ id }) => id).filter((id) => steps.includes(id));
}
