import type { Rows } from "../api/types";
import type { RehearsalStore } from "./rehearsalStore";

const DELAY_MS = 300;

/** The rows that this browser has kept for a pipeline. */
export function keptRows(pipeline: string, storage: Storage = localStorage): Record<string, Rows> {
  const text = storage.getItem(nameOf(pipeline));
  if (text === null) return {};
  try {
    const rows = JSON.parse(text);
    return typeof rows === "object" && rows !== null ? rows : {};
  } catch {
    // Written by something else, or cut off; nothing of it can be shown.
    return {};
  }
}

/**
 * Keep a pipeline's rows in this browser, shortly after each change, until the answered function
 * is called.
 */
export function keepRows(
  store: RehearsalStore,
  pipeline: string,
  storage: Storage = localStorage,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waiting = false;
  function write() {
    clearTimeout(timer);
    if (!waiting) return;
    waiting = false;
    const rows = Object.entries(store.getState().rows).filter(([, given]) => given.length > 0);
    try {
      if (rows.length === 0) storage.removeItem(nameOf(pipeline));
      else storage.setItem(nameOf(pipeline), JSON.stringify(Object.fromEntries(rows)));
      store.setState({ kept: true });
    } catch {
      store.setState({ kept: false });
    }
  }
  const ignore = store.subscribe((now, before) => {
    if (now.rows === before.rows) return;
    waiting = true;
    clearTimeout(timer);
    timer = setTimeout(write, DELAY_MS);
  });
  window.addEventListener("pagehide", write);
  return () => {
    ignore();
    window.removeEventListener("pagehide", write);
    write();
  };
}

function nameOf(pipeline: string): string {
  return `headrace.rows.${pipeline}`;
}
