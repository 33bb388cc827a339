import { Autocomplete } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import type { FormContext } from "../FormContext";
import { sorted, typed } from "./columnData";
import { fieldProps, placeholderOf } from "./fieldProps";

/** One column of what flows in. Beside `left` and `right`, of what flows in there. */
export function ColumnWidget(props: WidgetProps) {
  const { columns, byPort, begins, config } = props.registry.formContext as FormContext;
  const own = begins ? declared(config) : columns;
  const known = sorted(byPort[props.name] ?? own);
  return (
    <Autocomplete
      {...fieldProps(props)}
      value={String(props.value ?? "")}
      data={known.map((column) => column.name)}
      renderOption={typed(known)}
      placeholder={placeholderOf(props)}
      onChange={(next) => props.onChange(next || undefined)}
      classNames={{ input: "mono" }}
    />
  );
}

/** The columns that a source says its records have. */
export function declared(config: Record<string, unknown>): { name: string; type: string | null }[] {
  const listed = Array.isArray(config.columns) ? config.columns : [];
  return listed.flatMap((column: { name?: string; type?: string } | null) =>
    column?.name ? [{ name: column.name, type: column.type ?? "string" }] : [],
  );
}
