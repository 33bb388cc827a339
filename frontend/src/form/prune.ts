import type { Config } from "../api/graph";

/** A config without the fields that are left empty: what is not filled in is not there. */
export function prune(config: Config): Config {
  return (pruned(config) as Config | undefined) ?? {};
}

function pruned(value: unknown): unknown {
  if (value === undefined || value === null || value === "") return undefined;
  if (Array.isArray(value)) return value.map((item) => pruned(item) ?? (isObject(item) ? {} : ""));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, field]) => {
    const rest = pruned(field);
    const empty = rest === undefined || (Array.isArray(rest) && rest.length === 0);
    return empty ? [] : [[name, rest] as const];
  });
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
