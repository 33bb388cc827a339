import type { Rows } from "../api/types";
import { namesIn } from "./columnsOf";

type Row = Rows[number];
export type Op = "same" | "missing" | "unexpected" | "changed";

/** One row of a step compared with what was expected of it. */
export interface RowDiff {
  op: Op;
  expected?: Row | null;
  found?: Row | null;
  /** The columns that differ, of a changed row. */
  columns: string[];
}

export interface DiffCell {
  name: string;
  /** Whether it was, or is, there at all. */
  there: boolean;
  value: unknown;
  /** What was expected instead, of a cell that differs. */
  was?: unknown;
  differs: boolean;
}

export interface DiffLine {
  op: Op;
  deleted: boolean;
  cells: DiffCell[];
}

/** A step's rows as a table: the columns, the lines that differ, and those that are the same. */
export function diffTable(rows: RowDiff[]): {
  names: string[];
  differing: DiffLine[];
  same: DiffLine[];
} {
  const names = shownNames(rows);
  const lines = rows.map((row) => lineOf(row, names));
  return {
    names,
    differing: lines.filter(({ op }) => op !== "same"),
    same: lines.filter(({ op }) => op === "same"),
  };
}

/** Hidden columns are compared, and shown, only where the expected rows name them. */
function shownNames(rows: RowDiff[]): string[] {
  const expected = rows.flatMap(({ expected }) => (expected ? [expected] : []));
  const found = rows.flatMap(({ found }) => (found ? [found] : []));
  const named = new Set([...namesIn(expected), ...rows.flatMap(({ columns }) => columns)]);
  return namesIn([...expected, ...found]).filter(
    (name) => name !== "_deleted" && (!name.startsWith("_") || named.has(name)),
  );
}

function lineOf({ op, expected, found, columns }: RowDiff, names: string[]): DiffLine {
  const shown = found ?? expected ?? {};
  return {
    op,
    deleted: shown._deleted === true,
    cells: names.map((name) => {
      const differs = op === "changed" && columns.includes(name);
      const cell = { name, there: name in shown, value: shown[name], differs };
      return differs ? { ...cell, was: expected?.[name] } : cell;
    }),
  };
}
