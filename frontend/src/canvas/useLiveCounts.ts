import { useEffect } from "react";
import type { StoreApi } from "zustand";
import type { Deployment, DeploymentListed } from "../api/types";
import type { LiveState } from "./liveStore";

/**
 * Put what a deployment counts and shows on the canvas; null clears it. `counted` is what its steps
 * counted over another time than since it was made.
 */
export function useLiveCounts(
  live: StoreApi<LiveState>,
  deployment: Deployment | DeploymentListed | null,
  counted?: { steps: LiveState["steps"]; over: string | null; live: boolean },
): void {
  useEffect(() => {
    live.setState({
      steps: counted?.steps ?? deployment?.metrics?.steps ?? {},
      over: counted?.over ?? null,
      samples: deployment && "samples" in deployment ? deployment.samples : {},
      faulty:
        deployment?.state === "failed" || deployment?.state === "backing_off"
          ? deployment.step
          : null,
      on: deployment?.state === "running" || counted?.live === false,
    });
  }, [live, deployment, counted]);
}
