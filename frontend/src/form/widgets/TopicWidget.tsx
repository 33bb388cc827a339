import { Autocomplete } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import { useTranslation } from "react-i18next";
import type { FormContext } from "../FormContext";
import { fieldProps } from "./fieldProps";
import { topicOption } from "./topicOption";
import { useTopicsOf } from "./useTopicsOf";

/** A topic of the step's connection, or the name of one that is still to be made. */
export function TopicWidget(props: WidgetProps) {
  const { t } = useTranslation();
  const topics = useTopicsOf(props.registry.formContext as FormContext);
  return (
    <Autocomplete
      {...fieldProps(props)}
      value={String(props.value ?? "")}
      data={[...topics.keys()]}
      renderOption={topicOption(topics)}
      placeholder={t("form.topic")}
      onChange={(next) => props.onChange(next || undefined)}
      classNames={{ input: "mono" }}
    />
  );
}
