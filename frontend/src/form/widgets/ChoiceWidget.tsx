import { Input, SegmentedControl } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import { fieldProps, valueOrDefault } from "./fieldProps";
import { words } from "./words";

/** A few choices, all in sight. */
export function ChoiceWidget(props: WidgetProps) {
  const { id, label, description, error, "aria-label": aria } = fieldProps(props);
  const choices = (props.schema.enum ?? []).map(String);
  return (
    <Input.Wrapper
      id={id}
      label={label}
      description={description}
      error={error}
      size="xs"
      labelElement="div"
    >
      <SegmentedControl
        aria-label={aria ?? label}
        data={choices.map((choice) => ({ value: choice, label: words(choice) }))}
        value={String(valueOrDefault(props) ?? "")}
        onChange={(value) => props.onChange(value)}
        mt={2}
        style={{ display: "flex", width: "fit-content" }}
      />
    </Input.Wrapper>
  );
}
