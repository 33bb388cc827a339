import { TagsInput } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import { useTranslation } from "react-i18next";
import type { FormContext } from "../FormContext";
import { fieldProps } from "./fieldProps";
import { topicOption } from "./topicOption";
import { useTopicsOf } from "./useTopicsOf";

/** Topics of the step's connection, as chips; others may be typed. */
export function TopicsWidget(props: WidgetProps) {
  const { t } = useTranslation();
  const topics = useTopicsOf(props.registry.formContext as FormContext);
  const chosen: string[] = props.value ?? [];
  return (
    <TagsInput
      {...fieldProps(props)}
      value={chosen}
      data={[...topics.keys()]}
      renderOption={topicOption(topics)}
      placeholder={chosen.length ? undefined : t("form.topics")}
      onChange={(next) => props.onChange(next.length ? next : undefined)}
      acceptValueOnBlur
    />
  );
}
