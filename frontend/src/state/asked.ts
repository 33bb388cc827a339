import type { StateQuery, TableOut } from "../api/client";

export type By = "key" | "prefix" | "all";

/** What somebody has filled in to ask a table. */
export interface Asked {
  by: By;
  /** What was typed for each column of the key. */
  key: Record<string, string>;
  prefix: string;
  /** When the windows start, as a browser writes a time of its own clock; empty for any. */
  from: string;
  to: string;
  limit: number;
  live: boolean;
}

export const WINDOW = "window";
export const MOST_ROWS = 1000;
export const NOTHING_ASKED: Asked = {
  by: "all",
  key: {},
  prefix: "",
  from: "",
  to: "",
  limit: 100,
  live: true,
};

/** The columns of a table's key that people type; its windows are asked for by time. */
export function typedKey(table: TableOut): TableOut["key"] {
  return table.key.filter(({ name }) => name !== WINDOW);
}

export function isWindowed(table: TableOut): boolean {
  return table.key.some(({ name }) => name === WINDOW);
}

/** By what a table can be asked: only a key has a value, and only a text a beginning. */
export function waysToAsk(table: TableOut): By[] {
  const [first] = typedKey(table);
  if (first === undefined) return ["all"];
  return first.type === null || first.type === "string" ? ["all", "key", "prefix"] : ["all", "key"];
}

/** The query of what was filled in; what was left empty is not asked. */
export function queryOf(table: TableOut, asked: Asked): StateQuery {
  const query: StateQuery = { limit: asked.limit };
  const by = waysToAsk(table).includes(asked.by) ? asked.by : "all";
  if (by === "key") {
    const typed = typedKey(table).filter(({ name }) => asked.key[name]);
    const [only] = typedKey(table);
    if (typed.length > 0)
      query.key =
        typedKey(table).length === 1 && only
          ? asked.key[only.name]
          : JSON.stringify(Object.fromEntries(typed.map(({ name }) => [name, asked.key[name]])));
  }
  if (by === "prefix" && asked.prefix) query.prefix = asked.prefix;
  if (isWindowed(table) && asked.from) query.from = new Date(asked.from).toISOString();
  if (isWindowed(table) && asked.to) query.to = new Date(asked.to).toISOString();
  if (!asked.live) query.live = false;
  return query;
}

/** The same question as a command; the token is whoever runs it's own. */
export function asCurl(origin: string, deployment: string, step: string, query: StateQuery) {
  const given = Object.entries(query).map(([name, value]) => [name, String(value)]);
  const search = new URLSearchParams(given);
  const url = `${origin}/api/deployments/${deployment}/state/${step}?${search}`;
  return `curl -H "Authorization: Bearer $HEADRACE_TOKEN" '${url}'`;
}
