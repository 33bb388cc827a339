import { NumberInput } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import { fieldProps, placeholderOf } from "./fieldProps";

export function NumberWidget(props: WidgetProps) {
  const { value, schema, onChange } = props;
  return (
    <NumberInput
      {...fieldProps(props)}
      value={value ?? ""}
      placeholder={placeholderOf(props)}
      min={schema.minimum}
      max={schema.maximum}
      allowDecimal={schema.type === "number"}
      onChange={(next) => onChange(next === "" ? undefined : next)}
    />
  );
}
