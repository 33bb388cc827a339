import { Select } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import { fieldProps, valueOrDefault } from "./fieldProps";
import { words } from "./words";

/** One of many choices. */
export function OptionsWidget(props: WidgetProps) {
  const choices = (props.schema.enum ?? []).map(String);
  const value = valueOrDefault(props);
  return (
    <Select
      {...fieldProps(props)}
      data={choices.map((choice) => ({ value: choice, label: words(choice) }))}
      value={value === undefined ? null : String(value)}
      onChange={(next) => props.onChange(next ?? undefined)}
      allowDeselect={false}
      searchable={choices.length > 8}
    />
  );
}
