import { useQuery } from "@tanstack/react-query";
import { listConnections, listTopics } from "../api/client";

/** The connections that steps can name. */
export function useConnections() {
  return useQuery({
    queryKey: ["connections"],
    queryFn: () => listConnections({ query: { page_size: 200 } }),
    staleTime: 30_000,
  });
}

/** The topics of a connection, by its id; nothing is asked while there is none. */
export function useTopics(connection: string | undefined) {
  return useQuery({
    queryKey: ["connections", connection, "topics"],
    queryFn: () => listTopics({ path: { connection_id: connection ?? "" } }),
    enabled: connection !== undefined,
    staleTime: 15_000,
    retry: false,
  });
}
