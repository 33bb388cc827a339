import { useQuery } from "@tanstack/react-query";
import { getMe } from "../api/client";

/** Who is logged in, and what they may do. */
export function useMe() {
  return useQuery({
    queryKey: ["me"],
    queryFn: () => getMe(),
    staleTime: 300_000,
    // The server may be on its way up.
    refetchInterval: ({ state }) => (state.data ? false : 3_000),
  });
}
