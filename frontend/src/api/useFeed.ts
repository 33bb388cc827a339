import { WebSocket as ReconnectingWebSocket } from "partysocket";
import { useEffect, useRef, useState } from "react";
import { EMPTY_FEED, type Feed, type Message, receive } from "./feed";

const SILENT_MS = 60_000;

/**
 * Follow a websocket of deployments at `path`; null follows nothing. Answers the newest state
 * (null before the first snapshot) and whether the line is up. Reconnects by itself; the server
 * begins each connection with a snapshot; a gap in the numbers asks for a new one, and so does an
 * event that `renews`.
 */
export function useFeed<State, Snapshot, Event>(
  path: string | null,
  read: (snapshot: Snapshot) => State,
  apply: (state: State, event: Event) => State,
  renews?: (event: Event) => boolean,
): { state: State | null; live: boolean } {
  const [state, setState] = useState<State | null>(null);
  const [live, setLive] = useState(false);
  const latest = useRef({ read, apply, renews });
  latest.current = { read, apply, renews };

  useEffect(() => {
    setState(null);
    setLive(false);
    if (path === null) return;
    let feed: Feed<State> = EMPTY_FEED;
    let frame = 0;
    const socket = new ReconnectingWebSocket(address(path), [], {
      minReconnectionDelay: 500,
      maxReconnectionDelay: 10_000,
      connectionTimeout: 10_000,
    });
    // Several events may arrive between two frames; people see one change.
    const show = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        setState(feed.state);
      });
    };
    socket.addEventListener("open", () => setLive(true));
    socket.addEventListener("close", () => setLive(false));
    socket.addEventListener("message", ({ data }) => {
      const message = JSON.parse(data) as Message<Snapshot, Event>;
      const { read, apply, renews } = latest.current;
      const next = receive(feed, message, read, apply, renews);
      feed = next.feed;
      if (next.ask) socket.send(JSON.stringify({ type: "snapshot" }));
      show();
    });
    // A machine that slept may hold a connection that is dead and doesn't know it.
    const asleep = setInterval(() => {
      if (socket.readyState === socket.OPEN && document.visibilityState === "visible")
        socket.send(JSON.stringify({ type: "snapshot" }));
    }, SILENT_MS);
    return () => {
      clearInterval(asleep);
      cancelAnimationFrame(frame);
      socket.close();
    };
  }, [path]);

  return { state, live };
}

function address(path: string): string {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
}
