import { useQuery } from "@tanstack/react-query";
import { useAlertNews } from "../alerts/useAlerts";
import { listDeployments } from "../api/client";
import type { Deployment, DeploymentEvent, DeploymentListed, ListedEvent } from "../api/types";
import { useFeed } from "../api/useFeed";
import { readGraph } from "../canvas/editGraph";
import { applyEvent, applyListedEvent } from "./applyEvent";

import { newest } from "./newest";

const POLL_MS = 5_000;
const MOST_LISTED = 200;

/** Follow one deployment; null follows none. */
export function useDeployment(id: string | null) {
  return useFeed<Deployment, { deployment: Deployment }, DeploymentEvent>(
    id && `/ws/deployments/${id}`,
    ({ deployment }) => ({ ...deployment, graph: readGraph(deployment.graph) }),
    applyEvent,
    // With its state its runs change, when it tries again, and perhaps its version.
    ({ type }) => type === "state",
    useAlertNews(),
  );
}

/** Follow all deployments; without a websocket they are asked for now and then. */
export function useDeployments(): { state: DeploymentListed[] | null; live: boolean } {
  const feed = useFeed<DeploymentListed[], { deployments: DeploymentListed[] }, ListedEvent>(
    "/ws/deployments",
    ({ deployments }) => deployments,
    applyListedEvent,
    // One that has just been made; of a list that is full there are always more.
    ({ deployment }, listed) =>
      deployment !== undefined &&
      listed.length < MOST_LISTED &&
      !listed.some(({ id }) => id === deployment),
    useAlertNews(),
  );
  const asked = useQuery({
    queryKey: ["deployments"],
    queryFn: () => listDeployments({ query: { page_size: MOST_LISTED } }),
    enabled: !feed.live,
    refetchInterval: POLL_MS,
  });
  const items = asked.data?.items ?? null;
  const known = feed.live ? feed.state : newest(feed.state, items, (all) => all);
  return { state: known ?? items, live: feed.live };
}
