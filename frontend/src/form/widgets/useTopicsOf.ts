import { useConnections, useTopics } from "../../connections/useConnections";
import type { FormContext } from "../FormContext";

/** The id of the connection that the form's step names. */
export function useConnectionId({ config }: FormContext): string | undefined {
  const { data: connections } = useConnections();
  return connections?.items.find((connection) => connection.name === config.connection)?.id;
}

/** The topics of the connection that the form's step names, and how many partitions they have. */
export function useTopicsOf(context: FormContext): Map<string, number> {
  const { data: topics } = useTopics(useConnectionId(context));
  return new Map((topics?.items ?? []).map(({ topic, partitions }) => [topic, partitions]));
}
