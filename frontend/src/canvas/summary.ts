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
  merge: (c) => (c.strict ? "same columns only" : "by column name"),
  aggregate: (c) => {
    const does = items(c.aggregations).map((a) => {
      const of = text(a.expression);
      return (text(a.function) || "count") + (of ? ` of ${of}` : "");
    });
    const by = list(c.group_by);
    return [does.join(", ") + (by ? ` by ${by}` : ""), window(c.window)].filter(Boolean).join(", ");
  },
  join: (c) =>
    [
      `${text(c.kind) || "inner"} join`,
      items(c.on)
        .map(({ left, right }) => (left === right ? text(left) : `${text(left)} = ${text(right)}`))
        .join(" and "),
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
  const { kind, size, advance } = (value ?? {}) as Values;
  if (!kind || kind === "none" || !size) return "";
  const every = kind === "hopping" && advance ? ` every ${brief(advance)}` : "";
  return `${brief(size)} windows${every}`;
}

function brief(duration: unknown): string {
  return text(duration)
    .replace(/ milliseconds?/g, " ms")
    .replace(/ seconds?/g, " s")
    .replace(/ minutes?/g, " min")
    .replace(/ hours?/g, " h");
}

function newest(c: Values): string {
  const key = list(c.key);
  return (list(c.topics) || text(c.topic_pattern)) + (key ? ` by ${key}` : "");
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
