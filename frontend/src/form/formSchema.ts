import type { RJSFSchema, UiSchema } from "@rjsf/utils";

type Schema = RJSFSchema & { shownDefault?: unknown };

const CHOICES_IN_A_ROW = 4;
const LONGEST_ROW = 34;
// Formats that one widget edits as a whole, list or not.
const WIDGETS = new Set([
  "choice",
  "code",
  "column",
  "column-type",
  "columns",
  "connection",
  "duration",
  "expression",
  "sql",
  "start",
  "topic",
  "topics",
]);

/**
 * A step type's JSON Schema as the form needs it: references resolved, "or null" (which means
 * "left out") dropped, and defaults only shown, so that a config holds what somebody chose.
 */
export function formSchema(schema: RJSFSchema): RJSFSchema {
  const { $defs, ...root } = schema;
  return plain(root, ($defs ?? {}) as Record<string, Schema>);
}

function plain(schema: Schema, defs: Record<string, Schema>): Schema {
  let { $ref, anyOf, oneOf = anyOf, default: shown, ...rest } = schema;
  if (typeof $ref === "string") {
    // The description of a shared part tells programmers what it is; beside a field it is noise.
    const { description: _, title, ...target } = defs[$ref.replace("#/$defs/", "")] ?? {};
    return plain({ title, ...target, ...rest, default: shown }, defs);
  }
  if (Array.isArray(oneOf)) {
    const members = (oneOf as Schema[]).filter((member) => member.type !== "null");
    const [only] = members;
    const format = rest.format;
    rest =
      members.length === 1 && only
        ? { ...plain(only, defs), ...rest, format: format ?? plain(only, defs).format }
        : { ...rest, type: "string", format: "start" };
  }
  const result: Schema = { ...rest };
  if (result.format === undefined) delete result.format;
  if (shown !== null && shown !== undefined) result.shownDefault = shown;
  if (result.properties) {
    result.properties = Object.fromEntries(
      Object.entries(result.properties)
        // What can only be one thing is nobody's choice, and rjsf would write it.
        .filter(([, property]) => !("const" in (property as Schema)))
        .map(([name, property]) => [name, plain(property as Schema, defs)]),
    );
  }
  if (result.items && typeof result.items === "object" && !Array.isArray(result.items))
    result.items = plain(result.items as Schema, defs);
  return result;
}

/** Which widget edits which field; in the rows of a list labels go inside. */
export function uiSchema(schema: Schema, inRow = false): UiSchema {
  const ui: UiSchema = {};
  const widget = widgetOf(schema, inRow);
  if (widget) ui["ui:widget"] = widget;
  if (inRow && schema.title) {
    const label = schema.title;
    ui["ui:options"] = { label: false, "aria-label": label, placeholder: label, description: "" };
  }
  const inside = schema.properties as Record<string, Schema> | undefined;
  if (inside && widget === undefined)
    for (const [name, property] of Object.entries(inside)) ui[name] = uiSchema(property, inRow);
  const items = schema.items as Schema | undefined;
  if (items && widget === undefined) ui.items = uiSchema(items, true);
  return ui;
}

/** The schema of the field that a problem's path names, as deep as one widget goes; and its path. */
export function fieldAt(schema: RJSFSchema, path: string): string | null {
  let at = schema as Schema;
  const found: string[] = [];
  for (const part of path.split(".")) {
    if (found.length > 0 && widgetOf(at, false) !== undefined) break;
    const next = (at.properties?.[part] ?? (/^\d+$/.test(part) ? at.items : undefined)) as
      | Schema
      | undefined;
    if (!next) break;
    found.push(part);
    at = next;
  }
  return found.length ? found.join(".") : null;
}

/** The schema of the field at a path. */
export function schemaAt(schema: RJSFSchema, path: string): RJSFSchema | undefined {
  let at: Schema | undefined = schema;
  for (const part of path.split("."))
    at = (at?.properties?.[part] ?? (/^\d+$/.test(part) ? at?.items : undefined)) as
      | Schema
      | undefined;
  return at;
}

/** What people call the field that a problem names: `columns.1.expression` is Columns 2 · Expression. */
export function titleOf(schema: RJSFSchema, field: string): string {
  const fields = formSchema(schema);
  const parts = fieldAt(fields, field)?.split(".") ?? [];
  const titles: string[] = [];
  parts.forEach((part, i) => {
    if (/^\d+$/.test(part)) titles.push(`${titles.pop()} ${Number(part) + 1}`);
    else titles.push(schemaAt(fields, parts.slice(0, i + 1).join("."))?.title ?? part);
  });
  return titles.length > 0 ? titles.join(" · ") : field;
}

function widgetOf(schema: Schema, inRow: boolean): string | undefined {
  if (typeof schema.format === "string" && WIDGETS.has(schema.format)) return schema.format;
  if (Array.isArray(schema.enum)) {
    const short = schema.enum.join("  ").length <= LONGEST_ROW;
    return !inRow && schema.enum.length <= CHOICES_IN_A_ROW && short ? "choice" : "options";
  }
  return undefined;
}
