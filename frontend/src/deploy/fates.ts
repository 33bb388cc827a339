import type { Fit, SegmentFit } from "../api/client";

/**
 * What becomes of a segment: it goes on from its checkpoint, begins anew because what it
 * remembers does not fit, is new here, or begins afresh because somebody wants it to.
 */
export type Fate = "goes_on" | "anew" | "new" | "afresh";

/** The fate of each segment of a fit; `fresh` lets go of all that is there. */
export function fates(fit: Fit, fresh: boolean): (SegmentFit & { fate: Fate })[] {
  const left = new Set(fit.left.map(stepOf));
  return fit.segments.map((segment) => ({ ...segment, fate: fateOf(segment, left, fresh) }));
}

/** Whether something that is remembered now would be lost. */
export function forgets(fit: Fit, fresh: boolean): boolean {
  if (fresh) return fit.left.length > 0 || fit.segments.some((segment) => segment.goes_on);
  return fates(fit, false).some(({ fate }) => fate === "anew");
}

function fateOf(segment: SegmentFit, left: Set<string>, fresh: boolean): Fate {
  if (fresh) return "afresh";
  if (segment.goes_on) return "goes_on";
  return left.has(stepOf(segment.checkpoint)) ? "anew" : "new";
}

/** A checkpoint is named after its step and a hash of all that its state depends on. */
function stepOf(checkpoint: string): string {
  return checkpoint.slice(0, checkpoint.lastIndexOf("-"));
}
