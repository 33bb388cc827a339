import type { DeploymentListed } from "../api/types";

type Dated = Pick<DeploymentListed, "updated_at" | "metrics">;

/**
 * Which of two looks at the same deployments is newer: what a websocket told before it was cut,
 * or what was asked for since. Either may be missing.
 */
export function newest<T>(told: T | null, asked: T | null, all: (look: T) => Dated[]): T | null {
  if (told === null || asked === null) return told ?? asked;
  return changedAt(all(told)) > changedAt(all(asked)) ? told : asked;
}

function changedAt(deployments: Dated[]): number {
  const moments = deployments.flatMap(({ updated_at, metrics }) => [updated_at, metrics?.at]);
  return Math.max(0, ...moments.filter((at) => at !== undefined).map((at) => Date.parse(at)));
}
