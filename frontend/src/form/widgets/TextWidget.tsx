import { TextInput } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import { fieldProps, placeholderOf } from "./fieldProps";

export function TextWidget(props: WidgetProps) {
  return (
    <TextInput
      {...fieldProps(props)}
      value={props.value ?? ""}
      placeholder={placeholderOf(props)}
      onChange={(event) => props.onChange(event.currentTarget.value || undefined)}
    />
  );
}
