import type { WidgetProps } from "@rjsf/utils";
import { mendValue } from "../mendField";
import { Sentences } from "./Sentences";

/** What every Mantine input of the form takes from rjsf: label, help, error, id. */
export function fieldProps(props: WidgetProps) {
  const { id, label, hideLabel, required, schema, options, rawErrors, onChange } = props;
  const aria = options["aria-label"];
  return {
    id,
    label: hideLabel ? undefined : label,
    "aria-label": hideLabel ? (typeof aria === "string" ? aria : label) : undefined,
    description: hideLabel ? undefined : schema.description,
    error: rawErrors?.length ? (
      <Sentences
        sentences={rawErrors}
        mend={(wrong, right) => mendValue(props.value, schema.format, wrong, right)}
        onMend={onChange}
      />
    ) : undefined,
    withAsterisk: required && !hideLabel,
  };
}

/** What a field is worth while it is left empty, as text for its placeholder. */
export function placeholderOf({ schema, placeholder }: WidgetProps): string | undefined {
  const shown = (schema as { shownDefault?: unknown }).shownDefault;
  if (shown !== undefined && typeof shown !== "object") return String(shown);
  const example = Array.isArray(schema.examples) ? schema.examples[0] : undefined;
  if (example !== undefined) return String(example);
  return placeholder || undefined;
}

/** The value, or what it is worth while it is left empty. */
export function valueOrDefault({ value, schema }: WidgetProps): unknown {
  return value ?? (schema as { shownDefault?: unknown }).shownDefault;
}
