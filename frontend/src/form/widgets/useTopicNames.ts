import { useConnections, useTopics } from "../../connections/useConnections";
import type { FormContext } from "../FormContext";

/** The topics of the connection that the form's step names. */
export function useTopicNames({ config }: FormContext): string[] {
  const { data: connections } = useConnections();
  const named = connections?.items.find((connection) => connection.name === config.connection);
  const { data: topics } = useTopics(named?.id);
  return (topics?.items ?? []).map(({ topic }) => topic);
}
