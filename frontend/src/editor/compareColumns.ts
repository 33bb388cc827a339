import type { KnownColumn } from "../form/FormContext";

export interface ComparedColumn extends KnownColumn {
  change: "same" | "added" | "removed" | "retyped";
  /** The type before. */
  was: string | null;
}

/**
 * The columns after a step, each compared with those before it; what is gone comes last. A type
 * that is not known yet is no change.
 */
export function compareColumns(before: KnownColumn[], after: KnownColumn[]): ComparedColumn[] {
  const old = new Map(before.map((column) => [column.name, column.type]));
  const now = new Set(after.map(({ name }) => name));
  return [
    ...after.map((column): ComparedColumn => {
      const was = old.get(column.name) ?? null;
      const retyped = was !== null && column.type !== null && was !== column.type;
      const change = !old.has(column.name) ? "added" : retyped ? "retyped" : "same";
      return { ...column, was, change };
    }),
    ...before
      .filter(({ name }) => !now.has(name))
      .map((column): ComparedColumn => ({ ...column, was: column.type, change: "removed" })),
  ];
}
