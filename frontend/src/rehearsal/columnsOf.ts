import type { Graph, Step } from "../api/graph";
import type { CheckedStep, Rows } from "../api/types";
import type { Catalogue } from "../canvas/ports";
import type { KnownColumn } from "../form/FormContext";

/** What a row may say about the record it comes as. */
export const ABOUT = ["_key", "_timestamp", "_batch", "_deleted"] as const;
export type About = (typeof ABOUT)[number];

/** The steps that rows can be given to, in the order of the drawing. */
export function sourcesOf(graph: Pick<Graph, "steps">, catalogue: Catalogue): Step[] {
  return graph.steps.filter((step) => catalogue.get(step.type)?.group === "Sources");
}

/** A source's own columns: as the check knows them, else as its form declares them. */
export function columnsOf(step: Step, checked: CheckedStep | undefined): KnownColumn[] {
  const known = checked?.columns.filter(({ name }) => !name.startsWith("_")) ?? [];
  if (known.length > 0) return known;
  if (step.config.format === "text") return [{ name: "value", type: "string" }];
  if (step.config.format === "bytes") return [{ name: "value", type: "binary" }];
  const declared = Array.isArray(step.config.columns) ? step.config.columns : [];
  return declared.flatMap((column: { name?: unknown; type?: unknown } | null) =>
    typeof column?.name === "string" && column.name !== ""
      ? [{ name: column.name, type: typeof column.type === "string" ? column.type : null }]
      : [],
  );
}

/** The columns of a table of rows: the known ones, then others that some row has. */
export function shownColumns(columns: KnownColumn[], rows: Rows): KnownColumn[] {
  const names = new Set(columns.map(({ name }) => name));
  const others = namesIn(rows).filter((name) => !names.has(name) && !name.startsWith("_"));
  // A record that is no row yet: its text, as the topic holds it.
  return [
    ...columns,
    ...others.map((name) => ({ name, type: name === "value" ? "string" : null })),
  ];
}

/** Every name that a row has, in the order in which they first appear. */
export function namesIn(rows: Rows): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

/** A row with one value set, or without it. */
export function withCell(row: Rows[number], name: string, value: unknown): Rows[number] {
  const { [name]: _, ...others } = row;
  if (value === undefined) return others;
  return name in row ? { ...row, [name]: value } : { ...others, [name]: value };
}
