import { Button, Skeleton, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { Page } from "./Page";

/** The shape of a page whose content is on its way. */
export function Loading() {
  const { t } = useTranslation();
  return (
    <div aria-busy="true" role="status" aria-label={t("loading")} style={{ height: "100%" }}>
      <Skeleton h={48} radius={0} />
      <Stack p="lg" gap="sm">
        <Skeleton h={18} w="30%" />
        <Skeleton h={90} />
        <Skeleton h={90} w="80%" />
      </Stack>
    </div>
  );
}

/** What one asked for isn't there, or can't be had; why, and the way back. */
export function Missing({ message }: { message: string }) {
  const { t } = useTranslation();
  return (
    <Page>
      <Stack align="flex-start" gap="sm" role="alert">
        <Text size="lg" fw={600}>
          {t("missing.title")}
        </Text>
        <Text c="dimmed">{message}</Text>
        <Button component={Link} to="/" variant="default">
          {t("missing.back")}
        </Button>
      </Stack>
    </Page>
  );
}
