import type { Rows } from "../api/types";

export interface LineProblem {
  line: number;
  why: "notJson" | "notObject" | "inexact";
}

/** The largest text that is taken at once. */
export const MOST_BYTES = 5_000_000;

/** Rows from a text with one JSON object on each line; empty lines are left out. */
export function readJsonLines(text: string): { rows: Rows; problems: LineProblem[] } {
  const rows: Rows = [];
  const problems: LineProblem[] = [];
  text.split("\n").forEach((line, i) => {
    if (line.trim() === "") return;
    const read = readLine(line);
    if (typeof read === "string") problems.push({ line: i + 1, why: read });
    else rows.push(read);
  });
  return { rows, problems };
}

export function writeJsonLines(rows: Rows): string {
  return rows.map((row) => JSON.stringify(row)).join("\n");
}

/** Whether a text is small enough to be taken at once. */
export function isTaken(text: string): boolean {
  return text.length <= MOST_BYTES && new Blob([text]).size <= MOST_BYTES;
}

function readLine(line: string): Rows[number] | LineProblem["why"] {
  let inexact = false;
  try {
    const value: unknown = JSON.parse(line, (_, part) => {
      // Browsers round numbers as long as these, and would send others than were written.
      if (Number.isInteger(part) && !Number.isSafeInteger(part)) inexact = true;
      return part;
    });
    if (typeof value !== "object" || value === null || Array.isArray(value)) return "notObject";
    return inexact ? "inexact" : (value as Rows[number]);
  } catch {
    return "notJson";
  }
}
