import { Alert, Button, Group, Modal, Stack, Text } from "@mantine/core";
import { IconArrowBackUp } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { rollBackDeployment } from "../api/client";
import type { Deployment } from "../api/types";
import { say } from "../shell/say";
import { FitReport, useFit } from "./FitReport";

interface Props {
  deployment: Deployment;
  /** The version that ran before. */
  before: number;
  onClose: () => void;
}

/** Run the version again that ran before, after saying which and what it goes on from. */
export function RollBackDialog({ deployment, before, onClose }: Props) {
  const { t } = useTranslation();
  const versions = { now: deployment.version, before };
  const fit = useFit({ deployment: deployment.id, version: before });
  const rollBack = useMutation({
    mutationFn: () => rollBackDeployment({ path: { deployment_id: deployment.id } }),
    onSuccess: ({ version }) => {
      say(t("rollBack.done", { version }));
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title={t("rollBack.title", versions)}>
      <Stack gap="sm">
        <Text size="sm">{t("rollBack.explain", versions)}</Text>
        <FitReport fit={fit.data} error={fit.error} fresh={false} />
        {rollBack.error && (
          <Alert color="red" role="alert">
            {rollBack.error.message}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t("action.cancel")}
          </Button>
          <Button
            leftSection={<IconArrowBackUp size={15} aria-hidden />}
            loading={rollBack.isPending}
            onClick={() => rollBack.mutate()}
            data-autofocus
          >
            {t("rollBack.now", versions)}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
