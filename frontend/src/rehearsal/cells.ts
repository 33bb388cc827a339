/** What somebody typed into a cell, as its column would have it. */
export interface ReadCell {
  /** Undefined where the row shall have no such value. */
  value: unknown;
  /** Whether the column's type can hold it; what it can't is given as the text it is. */
  fits: boolean;
}

const WHOLE = /^(tinyint|smallint|int|integer|bigint|long|short|byte)$/i;
const FRACTION = /^(float|double|real|decimal)\b/i;
const NESTED = /^(array|struct|map)\b/i;

/** Read a cell's text by its column's type; nothing typed is no value, `""` an empty text. */
export function readCell(text: string, type: string | null): ReadCell {
  if (text === "") return { value: undefined, fits: true };
  if (type === null) return { value: anyValue(text), fits: true };
  const trimmed = text.trim();
  if (WHOLE.test(type)) {
    const whole = /^[+-]?\d+$/.test(trimmed) && Number.isSafeInteger(Number(trimmed));
    return whole ? { value: Number(trimmed), fits: true } : { value: text, fits: false };
  }
  if (FRACTION.test(type)) {
    const number = Number(trimmed);
    const fits = trimmed !== "" && Number.isFinite(number);
    return { value: fits ? number : text, fits };
  }
  if (/^boolean$/i.test(type)) {
    const fits = /^(true|false)$/i.test(trimmed);
    return { value: fits ? trimmed.toLowerCase() === "true" : text, fits };
  }
  if (/^(timestamp|date)/i.test(type))
    return { value: text, fits: !Number.isNaN(Date.parse(trimmed)) };
  if (NESTED.test(type)) {
    const value = json(text);
    const fits = typeof value === "object" && value !== null;
    return { value: fits ? value : text, fits };
  }
  return { value: unquoted(text), fits: true };
}

/** A value as the text of its cell, which reads back as that value. */
export function writeCell(value: unknown, type: string | null): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") return JSON.stringify(value);
  const misread = readCell(value, type).value !== value;
  return misread && isText(type) ? JSON.stringify(value) : value;
}

/** Whether a value that a row has is one its column's type can hold. */
export function fitsCell(value: unknown, type: string | null): boolean {
  if (value === undefined || value === null) return true;
  return readCell(writeCell(value, type), type).fits;
}

/** Rows that came as text, as CSV does, with each value as its column would have it. */
export function typedRows(
  rows: Record<string, unknown>[],
  types: Map<string, string | null>,
): Record<string, unknown>[] {
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).flatMap(([name, value]) => {
        if (typeof value !== "string") return [[name, value]];
        const type = types.get(name) ?? "string";
        const read = isText(type) && value !== "" ? value : readCell(value, type).value;
        return read === undefined ? [] : [[name, read]];
      }),
    ),
  );
}

function isText(type: string | null): boolean {
  if (type === null) return true;
  return !(
    WHOLE.test(type) ||
    FRACTION.test(type) ||
    NESTED.test(type) ||
    /^(boolean|timestamp|date)/i.test(type)
  );
}

function unquoted(text: string): string {
  const value = text.startsWith('"') ? json(text) : undefined;
  return typeof value === "string" ? value : text;
}

function anyValue(text: string): unknown {
  const value = json(text);
  return value === undefined || value === null ? text : value;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
