import { Autocomplete } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import { fieldProps, placeholderOf } from "./fieldProps";

export const COLUMN_TYPES = [
  "string",
  "int",
  "bigint",
  "double",
  "decimal(18,2)",
  "boolean",
  "timestamp",
  "date",
  "binary",
  "array<string>",
  "map<string,string>",
  "struct<name:string>",
];

/** A Spark type: the usual ones offered, any other typed. */
export function ColumnTypeWidget(props: WidgetProps) {
  return (
    <Autocomplete
      {...fieldProps(props)}
      value={String(props.value ?? "")}
      data={COLUMN_TYPES}
      placeholder={placeholderOf(props)}
      onChange={(next) => props.onChange(next || undefined)}
      classNames={{ input: "mono" }}
    />
  );
}
