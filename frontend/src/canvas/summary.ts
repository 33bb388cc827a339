import type { Step } from "../api/graph";

type Values = Record<string, unknown>;

// One line per type, in the words the user wrote. Types without one show their first text.
const SUMMARIES: Record<string, (config: Values) => string> = {
  kafka_source: (c) => list(c.topics) || text(c.topic_pattern),
  kafka_table: (c) => newest(c),
  lookup_table: (c) => newest(c),
  sample_source: (c) => `${text(c.rows_per_second) || 1} rows a second`,
  filter: (c) => text(c.condition),
  select: (c) =>
    (c.keep === "listed" ? "only " : "") +
    items(c.columns)
      .map((i) => text(i.name))
      .join(", "),
  explode: (c) => [text(c.as), text(c.expression)].filter(Boolean).join(" ← "),
  branch: (c) =>
    items(c.branches)
      .map((b) => text(b.name))
      .concat("otherwise")
      .join(" · "),
  key_by: (c) => list(c.columns) || text(c.expression),
  deduplicate: (c) => [list(c.columns), within(c.within)].filter(Boolean).join(" "),
  peek: () => "newest rows",
  sql: (c) => line(c.query),
  python_map: (c) => defined("def", c.code),
  python_processor: (c) => defined("class", c.code) + by(c.key),
  merge: (c) => (c.strict ? "same columns only" : "by column name"),
  aggregate: (c) => {
    const does = items(c.aggregations).map((a) => {
      const of = text(a.expression);
      return (text(a.function) || "count") + (of ? ` of ${of}` : "");
    });
    return [does.join(", ") + by(c.group_by), window(c.window)].filter(Boolean).join(", ");
  },
  reduce: (c) => line(c.expression) + by(c.group_by),
  to_table: (c) => by(c.key).trim(),
  to_stream: () => "each change",
  join: (c) =>
    [
      `${text(c.kind) || "inner"} join`,
      items(c.on)
        .map(({ left, right }) => (left === right ? text(left) : `${text(left)} = ${text(right)}`))
        .join(" and ") + apart(c.within),
    ]
      .filter(Boolean)
      .join(" on "),
  kafka_sink: (c) => text(c.topic) || text(c.topic_expression),
  console_sink: (c) => `newest ${text(c.rows) || 20} rows`,
};

/** What a step does, in one line of the user's own words; empty while nothing is filled in. */
export function summary(step: Step): string {
  const say = SUMMARIES[step.type];
  if (say) return say(step.config);
  return Object.values(step.config).map(text).find(Boolean) ?? "";
}

function window(value: unknown): string {
  const { kind, size, advance, gap } = (value ?? {}) as Values;
  if (kind === "session") return gap ? `sessions, ${brief(gap)} gap` : "sessions";
  if (!kind || kind === "none" || !size) return "";
  const every = kind === "hopping" && advance ? ` every ${brief(advance)}` : "";
  return `${brief(size)} ${kind === "sliding" ? "sliding " : ""}windows${every}`;
}

function brief(duration: unknown): string {
  return text(duration)
    .replace(/ milliseconds?/g, " ms")
    .replace(/ seconds?/g, " s")
    .replace(/ minutes?/g, " min")
    .replace(/ hours?/g, " h");
}

function newest(c: Values): string {
  return (list(c.topics) || text(c.topic_pattern)) + by(c.key);
}

function by(columns: unknown): string {
  const names = list(columns);
  return names ? ` by ${names}` : "";
}

function within(duration: unknown): string {
  return duration ? `within ${brief(duration)}` : "";
}

/** How far apart a join's rows may be: `, 5 s before to 1 min after`. */
function apart(value: unknown): string {
  const { before, after } = (value ?? {}) as Values;
  const ends = [before && `${brief(before)} before`, after && `${brief(after)} after`];
  return ends.some(Boolean) ? `, ${ends.filter(Boolean).join(" to ")}` : "";
}

/** The name that Python code gives its function or class. */
function defined(what: "def" | "class", code: unknown): string {
  const name = new RegExp(`^${what}\\s+(\\w+)`, "m").exec(text(code))?.[1] ?? "";
  return name && what === "def" ? `${name}(row)` : name;
}

function line(value: unknown): string {
  return text(value).replace(/\s+/g, " ");
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
}

function list(value: unknown): string {
  return Array.isArray(value) ? value.map(text).filter(Boolean).join(", ") : "";
}

function items(value: unknown): Values[] {
  return Array.isArray(value) ? value.filter((v) => typeof v === "object" && v !== null) : [];
}
