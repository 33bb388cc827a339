import type { Graph, Step } from "../api/graph";

/** A column that a step gives was renamed. */
export interface Rename {
  step: string;
  from: string;
  to: string;
}

/** By step, the names of the columns it defines, in their order. */
export type Names = ReadonlyMap<string, string[]>;

/** The names that every step of a graph gives to columns. */
export function namesIn(graph: Pick<Graph, "steps">): Names {
  return new Map(graph.steps.map((step) => [step.id, namesOf(step)]));
}

/**
 * The renames that led from some names to those of a graph, and the names to compare with from now
 * on. A name that was only moved in its list, begun or emptied is no rename; and steps or columns
 * that came or went since then are taken as they are.
 */
export function followRenames(
  before: Names,
  graph: Pick<Graph, "steps">,
): { names: Names; renames: Rename[] } {
  const names = new Map<string, string[]>();
  const renames: Rename[] = [];
  for (const [step, now] of namesIn(graph)) {
    const was = before.get(step) ?? now;
    const compared = was.length > now.length ? now : [...was, ...now.slice(was.length)];
    // What was empty has no name to follow yet.
    names.set(
      step,
      compared.map((name, i) => name || (now[i] ?? "")),
    );
    compared.forEach((from, i) => {
      const to = now[i] ?? "";
      if (from && to && from !== to && !now.includes(from) && !compared.includes(to))
        renames.push({ step, from, to });
    });
  }
  return { names, renames };
}

/** The names after a rename was taken or turned down: it is not told of again. */
export function settled(names: Names, { step, from, to }: Rename): Names {
  const list = names.get(step) ?? [];
  return new Map(names).set(
    step,
    list.map((name) => (name === from ? to : name)),
  );
}

function namesOf({ config }: Step): string[] {
  if (typeof config.as === "string") return [config.as];
  const listed = config.aggregations ?? config.columns;
  if (!Array.isArray(listed) || listed.some((item) => typeof item === "string")) return [];
  return listed.map((item) => {
    const name = (item as { name?: unknown } | null)?.name;
    return typeof name === "string" ? name : "";
  });
}
