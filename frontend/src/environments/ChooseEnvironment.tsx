import { Select } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { useEnvironments } from "./useEnvironments";

export const DEFAULT_ENVIRONMENT = "default";

interface Props {
  value: string;
  onChange: (environment: string) => void;
}

/** Where to deploy, as soon as there is more than one place. */
export function ChooseEnvironment({ value, onChange }: Props) {
  const { t } = useTranslation();
  const { data } = useEnvironments();
  const made = (data?.items ?? []).map(({ name }) => name);
  const names = [...new Set([DEFAULT_ENVIRONMENT, ...made])];
  if (names.length === 1) return null;
  return (
    <Select
      label={t("environments.choose")}
      data={names}
      value={value}
      allowDeselect={false}
      onChange={(chosen) => onChange(chosen ?? DEFAULT_ENVIRONMENT)}
    />
  );
}
