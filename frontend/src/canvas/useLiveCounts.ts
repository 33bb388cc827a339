import { useEffect } from "react";
import type { StoreApi } from "zustand";
import type { Deployment, DeploymentListed } from "../api/types";
import type { LiveState } from "./liveStore";

/** Put what a deployment counts and shows on the canvas; null clears it. */
export function useLiveCounts(
  live: StoreApi<LiveState>,
  deployment: Deployment | DeploymentListed | null,
): void {
  useEffect(() => {
    live.setState({
      steps: deployment?.metrics?.steps ?? {},
      samples: deployment && "samples" in deployment ? deployment.samples : {},
      faulty:
        deployment?.state === "failed" || deployment?.state === "backing_off"
          ? deployment.step
          : null,
      on: deployment?.state === "running",
    });
  }, [live, deployment]);
}
