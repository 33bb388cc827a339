import type { KnownColumn } from "../FormContext";

/** The fields of a struct's type, `struct<a:int,b:string>`; of an array of structs, those of each. */
export function fieldsOf(type: string | null): KnownColumn[] {
  const array = /^array<(.*)>$/s.exec(type ?? "");
  if (array)
    return fieldsOf(array[1] ?? "").map(({ name, type: of }) => ({ name, type: `array<${of}>` }));
  const struct = /^struct<(.*)>$/s.exec(type ?? "");
  return struct ? split(struct[1] ?? "").map(field) : [];
}

/** The fields behind a path such as `user.address`; `null` where there are none. */
export function fieldsAt(columns: KnownColumn[], path: string[]): KnownColumn[] {
  let known = columns;
  for (const part of path) {
    const found = known.find(({ name }) => name.toLowerCase() === part.toLowerCase());
    known = fieldsOf(found?.type ?? null);
  }
  return known;
}

function field(text: string): KnownColumn {
  const [, quoted, plain, type = ""] =
    /^\s*(?:`((?:[^`]|``)*)`|([^:]+)):\s*(.*)$/s.exec(text) ?? [];
  return { name: (quoted ?? plain ?? text).replaceAll("``", "`").trim(), type: type || null };
}

/** The parts between the commas that are not inside of another type or a name in backticks. */
function split(text: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const piece of text.match(/`(?:[^`]|``)*`|[^`]/gs) ?? []) {
    if (piece === "<" || piece === "(") depth++;
    if (piece === ">" || piece === ")") depth--;
    if (piece === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += piece;
  }
  return parts;
}
