import type { Deployment, DeploymentEvent, DeploymentListed, ListedEvent } from "../api/types";

/** A deployment after an event of it. */
export function applyEvent<D extends DeploymentListed | Deployment>(
  deployment: D,
  event: DeploymentEvent,
): D {
  switch (event.type) {
    case "state":
      return {
        ...deployment,
        state: event.state,
        message: event.message,
        step: event.step,
        desired: event.desired ?? deployment.desired,
        missing_topics: event.missing_topics ?? deployment.missing_topics,
        updated_at: event.at,
      };
    case "metrics": {
      const { type: _, ...metrics } = event;
      return { ...deployment, metrics };
    }
    case "sample":
      if (!("samples" in deployment)) return deployment;
      return { ...deployment, samples: { ...deployment.samples, [event.step]: event.rows } };
    default:
      return deployment;
  }
}

/** A list of deployments after an event of one of them; one that is not listed changes nothing. */
export function applyListedEvent(
  listed: DeploymentListed[],
  event: ListedEvent,
): DeploymentListed[] {
  return listed.map((deployment) =>
    deployment.id === event.deployment ? applyEvent(deployment, event) : deployment,
  );
}
