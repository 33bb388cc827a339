import type { CheckedStep, Segment } from "../api/types";
import type { CheckState } from "../canvas/checkStore";

const UNKNOWN: CheckedStep = { kind: "stream", key: [], columns: [], mode: null, segment: null };

/**
 * What a canvas shows of a graph that runs: each step in the first of its segments. A source
 * whose bad records are put aside is in two.
 */
export function asDeployed(
  checked: Record<string, CheckedStep>,
  segments: Segment[],
): Pick<CheckState, "steps" | "segments" | "problems"> {
  const steps: Record<string, CheckedStep> = {};
  for (const { id, mode, steps: members } of segments)
    for (const step of members)
      steps[step] ??= { ...(checked[step] ?? UNKNOWN), segment: id, mode };
  return { steps: { ...checked, ...steps }, segments, problems: [] };
}
