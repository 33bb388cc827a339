import type { Config } from "../api/graph";

type Values = Record<string, unknown>;

// Fields that mean something only beside certain values of others, as the step types say it.
const WHEN: Record<string, Record<string, (config: Values) => boolean>> = {
  kafka_source: { columns: isNotText },
  lookup_table: { columns: isNotText },
  aggregate: {
    "window.size": windowed,
    "window.advance": (c) => windowKind(c) === "hopping",
    time: windowed,
    grace: windowed,
    "aggregations.*.percentage": (c) =>
      ((c.aggregations ?? []) as Values[]).some((a) => a?.function === "percentile"),
  },
};

/** Whether a field is worth showing: one that is filled in always is, or problems would hide. */
export function isRelevant(type: string, path: (string | number)[], config: Config): boolean {
  const name = path.map((part) => (typeof part === "number" ? "*" : part)).join(".");
  const when = WHEN[type]?.[name];
  return when === undefined || when(config) || valueAt(config, path) !== undefined;
}

function valueAt(config: unknown, path: (string | number)[]): unknown {
  let at = config;
  for (const part of path) at = (at as Values | undefined)?.[part];
  return at;
}

function isNotText({ format, columns }: Values): boolean {
  return format !== "text" || (Array.isArray(columns) && columns.length > 0);
}

function windowed(config: Values): boolean {
  return windowKind(config) !== "none";
}

function windowKind({ window }: Values): unknown {
  return (window as Values | undefined)?.kind ?? "none";
}
