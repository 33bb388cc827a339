import { useEffect, useState } from "react";
import { browseTopic, type RecordOut, type Records } from "../api/client";
import { type Filter, type Place, queryOf } from "./useTopic";

const EVERY_MS = 1_000;
const AFTER_ERROR_MS = 4_000;
const MOST_AT_ONCE = 50;
/** How many records a live tail keeps. */
export const MOST_KEPT = 500;

/** What came since a tail began, newest first. */
export interface Tail {
  rows: RecordOut[];
  /** How many came too fast to be shown. */
  passedOver: number;
  error: string | null;
}

export const NOTHING: Tail = { rows: [], passedOver: 0, error: null };

/** A tail and what came after it. */
export function grown(tail: Tail, { items, passed_over }: Records): Tail {
  if (items.length === 0 && passed_over === 0 && tail.error === null) return tail;
  return {
    rows: [...items, ...tail.rows].slice(0, MOST_KEPT),
    passedOver: tail.passedOver + passed_over,
    error: null,
  };
}

/**
 * What comes to a topic from `after` on, asked for once a second while the page can be seen; null
 * does not ask. It begins anew with another topic, filter or beginning.
 */
export function useTail({ connection, topic }: Place, filter: Filter, after: string | null): Tail {
  const [tail, setTail] = useState(NOTHING);
  const asked = JSON.stringify(queryOf(filter));
  useEffect(() => {
    setTail(NOTHING);
    if (after === null) return;
    let place = after;
    let timer: ReturnType<typeof setTimeout>;
    const leaving = new AbortController();
    async function ask() {
      let wait = EVERY_MS;
      if (!document.hidden) {
        try {
          const found = await browseTopic({
            path: { connection_id: connection, topic },
            query: { ...JSON.parse(asked), after: place, limit: MOST_AT_ONCE },
            signal: leaving.signal,
          });
          place = found.after;
          setTail((now) => grown(now, found));
        } catch (error) {
          if (leaving.signal.aborted) return;
          wait = AFTER_ERROR_MS;
          setTail((now) => ({ ...now, error: (error as Error).message }));
        }
      }
      if (!leaving.signal.aborted) timer = setTimeout(ask, wait);
    }
    timer = setTimeout(ask, EVERY_MS);
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [connection, topic, asked, after]);
  return tail;
}
