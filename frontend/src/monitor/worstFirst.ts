import type { DeploymentListed, DeploymentState } from "../api/types";

// What needs somebody first; of the others, what runs before what was stopped.
const RANKS: Record<DeploymentState, number> = {
  failed: 0,
  backing_off: 1,
  running: 2,
  starting: 2,
  stopping: 2,
  pending: 2,
  stopped: 3,
};

// Rows wait a little in any pipeline; from then on it is late.
export const LATE_SECONDS = 10;

/**
 * The deployments, worst first: failed, trying again, then by how far they are behind and how
 * much they do, and last the stopped ones. Lag and rate count by their order of magnitude, so that
 * rows do not change places with every number.
 */
export function worstFirst(deployments: DeploymentListed[]): DeploymentListed[] {
  return deployments
    .map((deployment) => ({ deployment, key: sortKey(deployment) }))
    .sort((a, b) => compare(a.key, b.key))
    .map(({ deployment }) => deployment);
}

type Key = (number | string)[];

function sortKey({ state, metrics, pipeline, environment, id }: DeploymentListed): Key {
  const late = (metrics?.lag_seconds ?? 0) >= LATE_SECONDS ? metrics?.lag_seconds : 0;
  return [
    RANKS[state],
    -magnitude(late),
    -magnitude(metrics?.lag),
    -magnitude(metrics?.rate),
    pipeline.name.toLowerCase(),
    environment,
    id,
  ];
}

/** How many digits a number has; nothing and unknown have none. */
function magnitude(value: number | null | undefined): number {
  return value && value >= 1 ? Math.floor(Math.log10(value)) + 1 : 0;
}

function compare(a: Key, b: Key): number {
  for (const [i, one] of a.entries()) {
    const other = b[i] as typeof one;
    if (one < other) return -1;
    if (one > other) return 1;
  }
  return 0;
}

export const SHOWN = ["all", "trouble", "running", "stopped"] as const;
export type Shown = (typeof SHOWN)[number];

/** Whether a deployment needs somebody, or is late. */
export function inTrouble({ state, metrics }: DeploymentListed): boolean {
  if (state === "failed" || state === "backing_off") return true;
  return state === "running" && (metrics?.lag_seconds ?? 0) >= LATE_SECONDS;
}

/** The deployments that are to be shown and have all the words in name, folder or environment. */
export function chosen(
  deployments: DeploymentListed[],
  shown: Shown,
  search: string,
): DeploymentListed[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return deployments.filter((deployment) => {
    const { state, pipeline, environment } = deployment;
    if (shown === "trouble" && !inTrouble(deployment)) return false;
    if (shown === "running" && state !== "running") return false;
    if (shown === "stopped" && state !== "stopped") return false;
    const said = `${pipeline.name} ${pipeline.folder} ${environment}`.toLowerCase();
    return words.every((word) => said.includes(word));
  });
}

/** What all deployments amount to. */
export function totals(deployments: DeploymentListed[]) {
  const running = deployments.filter(({ state }) => state === "running");
  const lags = deployments.map(({ metrics }) => metrics?.lag ?? 0);
  return {
    running: running.length,
    trouble: deployments.filter(inTrouble).length,
    stopped: deployments.filter(({ state }) => state === "stopped").length,
    rate: running.reduce((sum, { metrics }) => sum + (metrics?.rate ?? 0), 0),
    lag: lags.reduce((sum, lag) => sum + lag, 0),
  };
}
