import type { RJSFSchema } from "@rjsf/utils";
import type { Config } from "../api/graph";
import { fieldAt, formSchema, schemaAt } from "./formSchema";
import { mended } from "./mistake";
import { quoted } from "./sqlTokens";

/** A field's value with a name in it replaced; null where it does not have that name. */
export function mendValue(
  value: unknown,
  format: string | undefined,
  wrong: string,
  right: string,
): unknown {
  const isWrong = (name: unknown) =>
    typeof name === "string" && name.toLowerCase() === wrong.toLowerCase();
  if (Array.isArray(value))
    return value.some(isWrong) ? value.map((name) => (isWrong(name) ? right : name)) : null;
  if (typeof value !== "string") return null;
  if (format !== "expression" && format !== "sql") return isWrong(value) ? right : null;
  // Of `user.nam` Spark suggests `user.name`, whose parts are names each.
  const parts = wrong.includes(".") ? right.split(".") : [right];
  return mended(value, wrong, parts.map(quoted).join("."));
}

/** A config with a name replaced in the field that a problem names; null where it is not there. */
export function mendField(
  schema: RJSFSchema,
  config: Config,
  field: string,
  wrong: string,
  right: string,
): Config | null {
  const fields = formSchema(schema);
  const path = fieldAt(fields, field);
  if (path === null) return null;
  const parts = path.split(".");
  let value: unknown = config;
  for (const part of parts) value = (value as Record<string, unknown> | undefined)?.[part];
  const next = mendValue(value, schemaAt(fields, path)?.format, wrong, right);
  return next === null ? null : (withValue(config, parts, next) as Config);
}

function withValue(at: unknown, [part, ...rest]: string[], value: unknown): unknown {
  if (part === undefined) return value;
  if (Array.isArray(at))
    return at.map((item, i) => (String(i) === part ? withValue(item, rest, value) : item));
  const fields = at as Record<string, unknown>;
  return { ...fields, [part]: withValue(fields[part], rest, value) };
}
