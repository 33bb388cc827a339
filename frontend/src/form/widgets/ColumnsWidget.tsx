import { TagsInput } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import type { FormContext } from "../FormContext";
import { declared } from "./ColumnWidget";
import { sorted, typed } from "./columnData";
import { fieldProps } from "./fieldProps";

/** Several columns of what flows in, as chips; a column that is not known yet may be typed. */
export function ColumnsWidget(props: WidgetProps) {
  const { columns, begins, config } = props.registry.formContext as FormContext;
  const known = sorted(begins ? declared(config) : columns);
  return (
    <TagsInput
      {...fieldProps(props)}
      value={props.value ?? []}
      data={known.map((column) => column.name)}
      renderOption={typed(known)}
      onChange={(next) => props.onChange(next.length ? next : undefined)}
      acceptValueOnBlur
      clearable
    />
  );
}
