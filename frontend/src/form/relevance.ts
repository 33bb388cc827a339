import type { Config, Kind } from "../api/graph";

type Values = Record<string, unknown>;
type Path = (string | number)[];
type Kinds = Record<string, Kind>;
/** `beside` holds the fields that stand in the same object or row. */
type When = (config: Values, beside: Values, kinds: Kinds) => boolean;

// Fields that mean something only beside certain values of others, as the step types say it.
const WHEN: Record<string, Record<string, When>> = {
  kafka_source: { columns: hasFields },
  kafka_table: { columns: hasFields },
  lookup_table: { columns: hasFields },
  aggregate: {
    "aggregations.*.percentage": (_, row) => row.function === "percentile",
    "window.size": (_, { kind }) => kind === "tumbling" || kind === "hopping" || kind === "sliding",
    "window.advance": (_, { kind }) => kind === "hopping",
    "window.gap": (_, { kind }) => kind === "session",
    time: windowed,
    grace: windowed,
    emit: windowed,
    late: windowed,
  },
  join: { within: mayBeStreams, grace: mayBeStreams },
  python_processor: { grace: ({ time }) => time !== "processing" },
};

/** Whether a field is worth showing: one that is filled in always is, or problems would hide. */
export function isRelevant(type: string, path: Path, config: Config, kinds: Kinds = {}): boolean {
  return means(type, path, config, kinds) || valueAt(config, path) !== undefined;
}

/** A config after a change of it, without the fields that meant something before and no more do. */
export function withoutLost(type: string, before: Config, after: Config): Config {
  return dropped(after, [], (path) => means(type, path, before) && !means(type, path, after));
}

function means(type: string, path: Path, config: Config, kinds: Kinds = {}): boolean {
  const name = path.map((part) => (typeof part === "number" ? "*" : part)).join(".");
  const when = WHEN[type]?.[name];
  return when === undefined || when(config, object(valueAt(config, path.slice(0, -1))), kinds);
}

function dropped<T>(value: T, path: Path, isLost: (path: Path) => boolean): T {
  if (Array.isArray(value)) return value.map((item, i) => dropped(item, [...path, i], isLost)) as T;
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value)
    .filter(([name]) => !isLost([...path, name]))
    .map(([name, field]) => [name, dropped(field, [...path, name], isLost)]);
  return Object.fromEntries(kept) as T;
}

function valueAt(config: unknown, path: Path): unknown {
  let at = config;
  for (const part of path) at = (at as Values | undefined)?.[part];
  return at;
}

function object(value: unknown): Values {
  return typeof value === "object" && value !== null ? (value as Values) : {};
}

function hasFields({ format, columns }: Values): boolean {
  const isWhole = format === "text" || format === "bytes";
  return !isWhole || (Array.isArray(columns) && columns.length > 0);
}

function windowed({ window }: Values): boolean {
  return (object(window).kind ?? "none") !== "none";
}

function mayBeStreams(_: Values, __: Values, { left, right }: Kinds): boolean {
  return (left ?? "stream") === "stream" && (right ?? "stream") === "stream";
}
