import { useQuery } from "@tanstack/react-query";
import { listEnvironments } from "../api/client";

/** The environments that somebody has made, and the settings of Spark that one may name. */
export function useEnvironments() {
  return useQuery({
    queryKey: ["environments"],
    queryFn: () => listEnvironments({ query: { page_size: 200 } }),
    staleTime: 30_000,
  });
}
