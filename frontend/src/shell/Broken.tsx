import { Button, Code, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { useRouteError } from "react-router";

/** A page that failed while it was drawn: says so, and offers to begin again. */
export function Broken() {
  const { t } = useTranslation();
  const error = useRouteError();
  return (
    <Stack p="xl" align="flex-start" gap="sm" role="alert">
      <Text size="lg" fw={600}>
        {t("broken.title")}
      </Text>
      <Text c="dimmed">{t("broken.explain")}</Text>
      <Code>{error instanceof Error ? error.message : String(error)}</Code>
      <Button onClick={() => location.reload()}>{t("broken.reload")}</Button>
    </Stack>
  );
}
