import { Autocomplete } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import type { FormContext } from "../FormContext";
import { columnsFor, found, TypeOf, typed } from "./columnData";
import { fieldProps, placeholderOf } from "./fieldProps";

const CHARACTER = 7;
const WIDEST = 110;

/** One column of what flows in, with its type; a name that is not known may be typed. */
export function ColumnWidget(props: WidgetProps) {
  const known = columnsFor(props.registry.formContext as FormContext, props.name);
  const value = String(props.value ?? "");
  const type = found(known, value)?.type ?? "";
  return (
    <Autocomplete
      {...fieldProps(props)}
      value={value}
      data={known.map((column) => column.name)}
      renderOption={typed(known)}
      placeholder={placeholderOf(props)}
      onChange={(next) => props.onChange(next || undefined)}
      classNames={{ input: "mono" }}
      rightSection={<TypeOf columns={known} name={value} />}
      rightSectionWidth={Math.min(WIDEST, type.length * CHARACTER + 16) || 28}
      rightSectionPointerEvents={type ? "none" : "all"}
    />
  );
}
