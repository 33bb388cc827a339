import type { Step } from "../api/graph";

/** One thing for which a source could not read a value, with what its sentence names. */
export type Fault =
  | { kind: "notJson"; why: string }
  | { kind: "noObject" }
  | { kind: "type"; column: string; declared: string; found: Found };

export type Found = "text" | "number" | "fraction" | "boolean" | "list" | "object";

const INTEGERS = /^(tinyint|byte|smallint|short|int|integer|bigint|long)$/;
const NUMBERS = /^(float|real|double|decimal.*|dec.*|numeric.*)$/;
const DATE = /^\d{4}-\d{2}(-\d{2})?/;

/** Why a source that reads JSON into its declared columns can't read this value; none if it can. */
export function valueFaults(text: string, step: Step): Fault[] {
  if ((step.config.format ?? "json") !== "json") return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return [{ kind: "notJson", why: (error as Error).message }];
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return [{ kind: "noObject" }];
  const row = value as Record<string, unknown>;
  return columnsOf(step).flatMap(({ name, type }) => {
    const held = row[name];
    if (held === null || held === undefined || fits(held, type)) return [];
    return [{ kind: "type" as const, column: name, declared: type, found: foundAs(held) }];
  });
}

function columnsOf(step: Step): { name: string; type: string }[] {
  const { columns } = step.config;
  return Array.isArray(columns) ? columns : [];
}

/** Whether a JSON value becomes one of a Spark type; where in doubt, it does. */
function fits(held: unknown, declared: string): boolean {
  const type = declared.trim().toLowerCase();
  const found = foundAs(held);
  if (INTEGERS.test(type)) return found === "number";
  if (NUMBERS.test(type)) return found === "number" || found === "fraction";
  if (type === "boolean") return found === "boolean";
  if (type === "date" || type.startsWith("timestamp"))
    return found === "number" || (typeof held === "string" && DATE.test(held));
  if (type.startsWith("array")) return found === "list";
  if (type.startsWith("struct") || type.startsWith("map")) return found === "object";
  return true;
}

function foundAs(held: unknown): Found {
  if (typeof held === "string") return "text";
  if (typeof held === "number") return Number.isInteger(held) ? "number" : "fraction";
  if (typeof held === "boolean") return "boolean";
  return Array.isArray(held) ? "list" : "object";
}
