import { Checkbox } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import { fieldProps, valueOrDefault } from "./fieldProps";

export function SwitchWidget(props: WidgetProps) {
  const { withAsterisk: _, ...field } = fieldProps(props);
  return (
    <Checkbox
      {...field}
      checked={valueOrDefault(props) === true}
      onChange={(event) => props.onChange(event.currentTarget.checked)}
    />
  );
}
