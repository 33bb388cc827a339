import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { browseTopic, getTopic, listTopicGroups, type RecordOut } from "../api/client";

const POLL_MS = 5_000;

/** A topic of a connection. */
export interface Place {
  connection: string;
  topic: string;
}

/** Which records of a topic are shown; times as ISO 8601. */
export interface Filter {
  key: string;
  search: string;
  partition: number | null;
  since?: string;
  until?: string;
}

const pathOf = ({ connection, topic }: Place) => ({ connection_id: connection, topic });

/** Partitions, settings and users of a topic, as they are now. */
export function useTopic(place: Place) {
  return useQuery({
    queryKey: ["topic", place.connection, place.topic],
    queryFn: () => getTopic({ path: pathOf(place) }),
    refetchInterval: POLL_MS,
    retry: false,
  });
}

/** The consumer groups that read a topic. */
export function useGroups(place: Place) {
  return useQuery({
    queryKey: ["topic", place.connection, place.topic, "groups"],
    queryFn: () => listTopicGroups({ path: pathOf(place) }),
    refetchInterval: POLL_MS,
    retry: false,
  });
}

/** What the API is asked for by a filter: what is empty is not asked. */
export function queryOf({ key, search, partition, since, until }: Filter) {
  return { key: key || undefined, search, partition: partition ?? undefined, since, until };
}

/** The newest records of a topic that match, and older ones page by page. */
export function useRecords(place: Place, filter: Filter) {
  return useInfiniteQuery({
    queryKey: ["records", place.connection, place.topic, filter],
    queryFn: ({ pageParam, signal }) =>
      browseTopic({
        path: pathOf(place),
        query: { ...queryOf(filter), before: pageParam ?? undefined },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.before ?? undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
}

/** One record, whole; null where it is not there any more. */
export function useRecord(place: Place, { partition, offset }: RecordOut) {
  return useQuery({
    queryKey: ["record", place.connection, place.topic, partition, offset],
    queryFn: async () => {
      const found = await browseTopic({ path: pathOf(place), query: { partition, offset } });
      return found.items[0] ?? null;
    },
    retry: false,
  });
}
