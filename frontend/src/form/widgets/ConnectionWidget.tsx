import { Select } from "@mantine/core";
import type { WidgetProps } from "@rjsf/utils";
import { useTranslation } from "react-i18next";
import { useConnections } from "../../connections/useConnections";
import { fieldProps } from "./fieldProps";

export function ConnectionWidget(props: WidgetProps) {
  const { t } = useTranslation();
  const { data } = useConnections();
  // Steps read and write Kafka only.
  const clusters = (data?.items ?? []).filter(({ type }) => type === "kafka");
  const names = clusters.map((connection) => connection.name);
  const value = props.value as string | undefined;
  const all = value && !names.includes(value) ? [...names, value] : names;
  return (
    <Select
      {...fieldProps(props)}
      data={all}
      value={value ?? null}
      placeholder={t("form.chooseConnection")}
      onChange={(next) => props.onChange(next ?? undefined)}
    />
  );
}
