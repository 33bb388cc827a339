import type { PlanOut } from "../api/client";

export type Planned = Pick<PlanOut, "segments" | "topics">;
type Use = "reads" | "writes" | "dead_letters" | "console";

const USES: Record<string, Use> = {
  read: "reads",
  write: "writes",
  dead_letters: "dead_letters",
  console: "console",
};

/**
 * The topics of a segment, those between segments too, by what it does with them. Several segments
 * may have a step in common; what the step writes, the one with the fewest others writes.
 */
export function topicsOf(
  plan: Planned,
  segment: Planned["segments"][number],
): { use: Use; topics: string[] }[] {
  const found: Record<Use, string[]> = { reads: [], writes: [], dead_letters: [], console: [] };
  for (const { step, use, topic, pattern } of plan.topics) {
    const as = USES[use];
    if (!as || !segment.steps.includes(step)) continue;
    if (as === "reads" || narrowest(plan, step) === segment.id)
      found[as].push(topic ?? pattern ?? "");
  }
  found.reads.push(...segment.reads);
  found.writes.push(...segment.writes);
  return (Object.keys(found) as Use[])
    .map((use) => ({ use, topics: [...new Set(found[use])].filter(Boolean) }))
    .filter(({ topics }) => topics.length > 0);
}

function narrowest({ segments }: Planned, step: string): string | undefined {
  return segments
    .filter(({ steps }) => steps.includes(step))
    .sort((a, b) => a.steps.length - b.steps.length)[0]?.id;
}
