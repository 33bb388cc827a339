import type { Deployment } from "../api/types";

type Run = Deployment["runs"][number];

/**
 * What an operator is told to do: `make_topics` that are missing, `wait` for what is away outside,
 * `look` into the log of a process that ended unexpectedly, `mend` what can't run as it is.
 */
export type Advice = "make_topics" | "wait" | "look" | "mend";

export interface Standing {
  advice: Advice;
  /** The newest run that has ended, which says why. */
  last: Run | null;
  /** When it is tried again; null where what is away is looked for every few seconds. */
  retryAt: string | null;
  /** How many tries failed one after the other. */
  failures: number;
}

// How a run says with its exit code that the world is at fault, not the pipeline.
const TRY_AGAIN = 75;
const IN_TROUBLE = new Set<Deployment["state"]>(["backing_off", "failed", "pending", "starting"]);

/** What is wrong with a deployment and what to do about it; null where nothing is. */
export function standingOf(deployment: Deployment): Standing | null {
  const { state, failures, retry_at: retryAt } = deployment;
  if (!IN_TROUBLE.has(state)) return null;
  // One that is only on its way is no trouble.
  if (state !== "failed" && state !== "backing_off" && failures === 0) return null;
  const last = deployment.runs.find((run) => run.ended_at !== null) ?? null;
  const advice = adviceOf(deployment, last);
  const looked = advice === "make_topics" || (advice === "wait" && failures === 0);
  return { advice, last, retryAt: looked ? null : retryAt, failures };
}

function adviceOf(deployment: Deployment, last: Run | null): Advice {
  if (deployment.state === "failed") return "mend";
  if (deployment.missing_topics.length > 0) return "make_topics";
  // Without a failed run it never got as far: something was away when it was looked for.
  return deployment.failures === 0 || last?.exit_code === TRY_AGAIN ? "wait" : "look";
}

/** How long until a moment, in whole seconds; null once it has come. */
export function secondsUntil(at: string, now: number): number | null {
  const seconds = Math.ceil((Date.parse(at) - now) / 1000);
  return seconds > 0 ? seconds : null;
}
