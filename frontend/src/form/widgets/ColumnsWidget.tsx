import { TagsInput } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import type { FormContext } from "../FormContext";
import { ColumnPill, columnsFor, typed } from "./columnData";
import { fieldProps } from "./fieldProps";

// Chips with types take much room; the input behind them needs little until it is typed in.
const NARROWEST = 40;

/** Several columns of what flows in, as chips; a column that is not known yet may be typed. */
export function ColumnsWidget(props: WidgetProps) {
  const known = columnsFor(props.registry.formContext as FormContext, props.name);
  return (
    <TagsInput
      {...fieldProps(props)}
      value={props.value ?? []}
      data={known.map((column) => column.name)}
      renderOption={typed(known)}
      renderPill={({ option, onRemove, disabled }) => (
        <ColumnPill
          columns={known}
          name={String(option.value)}
          onRemove={onRemove}
          disabled={disabled}
        />
      )}
      onChange={(next) => props.onChange(next.length ? next : undefined)}
      acceptValueOnBlur
      styles={{ inputField: { minWidth: NARROWEST } }}
      clearable
    />
  );
}
