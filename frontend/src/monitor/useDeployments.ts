import type { Deployment, DeploymentEvent, DeploymentListed, ListedEvent } from "../api/types";
import { useFeed } from "../api/useFeed";
import { readGraph } from "../canvas/editGraph";
import { applyEvent, applyListedEvent } from "./applyEvent";

/** Follow one deployment; null follows none. */
export function useDeployment(id: string | null) {
  return useFeed<Deployment, { deployment: Deployment }, DeploymentEvent>(
    id && `/ws/deployments/${id}`,
    ({ deployment }) => ({ ...deployment, graph: readGraph(deployment.graph) }),
    applyEvent,
    // With its state its runs change, when it tries again, and perhaps its version.
    ({ type }) => type === "state",
  );
}

/** Follow all deployments. */
export function useDeployments() {
  return useFeed<DeploymentListed[], { deployments: DeploymentListed[] }, ListedEvent>(
    "/ws/deployments",
    ({ deployments }) => deployments,
    applyListedEvent,
  );
}
