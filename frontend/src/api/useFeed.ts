import { WebSocket as ReconnectingWebSocket } from "partysocket";
import { useEffect, useRef, useState } from "react";
import { EMPTY_FEED, type Feed, type Message, receive } from "./feed";

// A line that was cut is up again well within two seconds; not all browsers try at once.
const FIRST_TRY_MS = 200;
const LAST_TRY_MS = 1_500;
const SPREAD_MS = 300;
const CONNECT_MS = 4_000;
// Whom the server sends away it will send away again: nobody, nothing there, too many.
const SENT_AWAY = new Set([4403, 4404, 4429]);
const SENT_AWAY_MS = 10_000;
// A machine that slept, or changed its network, may hold a line that is dead and doesn't know it.
const SILENT_MS = 15_000;
const ANSWER_MS = 3_000;

/**
 * Follow a websocket of deployments at `path`; null follows nothing. Answers the newest state
 * (null before the first snapshot) and whether the line is up. Reconnects by itself; the server
 * begins each connection with a snapshot; a gap in the numbers asks for a new one, and so does an
 * event that `renews` the state it comes to, and a line on which nothing was heard for long.
 * `hear` is given every message, too.
 */
export function useFeed<State, Snapshot, Event>(
  path: string | null,
  read: (snapshot: Snapshot) => State,
  apply: (state: State, event: Event) => State,
  renews?: (event: Event, state: State) => boolean,
  hear?: (message: Message<Snapshot, Event>) => void,
): { state: State | null; live: boolean } {
  const [state, setState] = useState<State | null>(null);
  const [live, setLive] = useState(false);
  const latest = useRef({ read, apply, renews, hear });
  latest.current = { read, apply, renews, hear };

  useEffect(() => {
    setState(null);
    setLive(false);
    if (path === null) return;
    let feed: Feed<State> = EMPTY_FEED;
    let frame = 0;
    let again: ReturnType<typeof setTimeout> | undefined;
    const spread = Math.random() * SPREAD_MS;
    const socket = new ReconnectingWebSocket(address(path), [], {
      minReconnectionDelay: FIRST_TRY_MS + spread,
      maxReconnectionDelay: LAST_TRY_MS + spread,
      connectionTimeout: CONNECT_MS,
      shouldReconnectOnClose: ({ code }) => !SENT_AWAY.has(code),
    });
    const line = watchLine(socket);
    // Several events may arrive between two frames; people see one change.
    const show = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        setState(feed.state);
      });
    };
    socket.addEventListener("open", () => setLive(true));
    socket.addEventListener("close", ({ code }) => {
      setLive(false);
      if (SENT_AWAY.has(code)) again = setTimeout(() => socket.reconnect(), SENT_AWAY_MS);
    });
    socket.addEventListener("message", ({ data }) => {
      line.heard();
      const message = JSON.parse(data) as Message<Snapshot, Event>;
      const { read, apply, renews, hear } = latest.current;
      hear?.(message);
      const next = receive(feed, message, read, apply, renews);
      feed = next.feed;
      if (next.ask) line.ask();
      show();
    });
    return () => {
      line.end();
      clearTimeout(again);
      cancelAnimationFrame(frame);
      socket.close();
    };
  }, [path]);

  return { state, live };
}

/**
 * Notice a dead line: where nothing is heard for long, or the page is looked at again, or the
 * network is back, a snapshot is asked for, and where none comes the line is made anew.
 */
function watchLine(socket: ReconnectingWebSocket) {
  let last = Date.now();
  let asked: number | null = null;
  const ask = () => {
    if (socket.readyState !== socket.OPEN) return;
    asked ??= Date.now();
    socket.send(JSON.stringify({ type: "snapshot" }));
  };
  const look = () => document.visibilityState === "visible" && ask();
  const timer = setInterval(() => {
    const now = Date.now();
    if (socket.readyState !== socket.OPEN) last = now;
    else if (asked !== null && now - asked > ANSWER_MS) {
      asked = null;
      socket.reconnect();
    } else if (asked === null && now - last > SILENT_MS) look();
  }, 1_000);
  document.addEventListener("visibilitychange", look);
  addEventListener("online", look);
  return {
    ask,
    heard() {
      last = Date.now();
      asked = null;
    },
    end() {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
      removeEventListener("online", look);
    },
  };
}

function address(path: string): string {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
}
