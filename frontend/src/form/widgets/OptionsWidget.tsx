import { Select, type SelectProps, Text } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import type { FormContext } from "../FormContext";
import { fieldProps, valueOrDefault } from "./fieldProps";
import { useAggregates } from "./functions";
import { words } from "./words";

/** One of many choices. */
export function OptionsWidget(props: WidgetProps) {
  const { type } = props.registry.formContext as FormContext;
  if (type === "aggregate" && props.name === "function") return <FunctionChoice {...props} />;
  return <Choice {...props} />;
}

/** Which function an aggregation takes, with what Spark says of it. */
function FunctionChoice(props: WidgetProps) {
  const summaries = new Map(useAggregates().map(({ name, summary }) => [name, summary]));
  return (
    <Choice
      {...props}
      comboboxProps={{ width: 260, position: "bottom-start" }}
      renderOption={({ option }) => (
        <div>
          {option.label}
          <Text size="xs" c="dimmed" lineClamp={2}>
            {summaries.get(option.value)}
          </Text>
        </div>
      )}
    />
  );
}

type Look = Pick<SelectProps, "comboboxProps" | "renderOption">;

function Choice({ comboboxProps, renderOption, ...props }: WidgetProps & Look) {
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
      comboboxProps={comboboxProps}
      renderOption={renderOption}
    />
  );
}
