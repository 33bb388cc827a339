import { Alert, Button, Group, List, Modal, Stack } from "@mantine/core";
import { IconAlertTriangle, IconPlayerSkipBack } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { rewindDeployment } from "../api/client";
import type { Deployment } from "../api/types";
import { say } from "../shell/say";
import styles from "./Deploy.module.css";
import { StartChoice, useStart } from "./StartChoice";
import { type Start, tablesOf, WAYS, type Way } from "./start";

const REWIND_WAYS = WAYS.filter((way) => way !== "steps");

/** Have a deployment read from another place, after saying what that costs. */
export function RewindDialog({
  deployment,
  onClose,
}: {
  deployment: Deployment;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const { start, ...choice } = useStart(deployment.graph, "earliest");
  const rewind = useMutation({
    mutationFn: (start: Start) =>
      rewindDeployment({ path: { deployment_id: deployment.id }, body: { start } }),
    onSuccess: () => {
      say(t("rewind.done"));
      onClose();
    },
  });
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={t("rewind.title", { name: deployment.pipeline.name })}
    >
      <Stack gap="sm">
        <StartChoice
          {...choice}
          ways={REWIND_WAYS}
          label={t("rewind.to")}
          help={t(`rewind.${choice.chosen.way as Exclude<Way, "steps">}Help`)}
        />
        <Alert
          color="yellow"
          p="xs"
          icon={<IconAlertTriangle size={17} />}
          title={t("rewind.costs")}
          classNames={{ title: styles.warning, icon: styles.warning }}
        >
          <List size="xs" spacing={2}>
            <List.Item>{t("rewind.forgets")}</List.Item>
            <List.Item>
              {t(choice.chosen.way === "latest" ? "rewind.skips" : "rewind.repeats")}
            </List.Item>
            <Tables deployment={deployment} way={choice.chosen.way} />
            {deployment.desired === "stopped" && <List.Item>{t("rewind.starts")}</List.Item>}
          </List>
        </Alert>
        {rewind.error && (
          <Alert color="red" role="alert">
            {rewind.error.message}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t("action.cancel")}
          </Button>
          <Button
            leftSection={<IconPlayerSkipBack size={14} aria-hidden />}
            disabled={!start}
            loading={rewind.isPending}
            onClick={() => start && rewind.mutate(start)}
          >
            {t("rewind.now")}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** That tables begin there, too, where that leaves keys out. */
function Tables({ deployment, way }: { deployment: Deployment; way: Way }) {
  const { t } = useTranslation();
  const tables = tablesOf(deployment.graph);
  if (way === "earliest" || tables.length === 0) return null;
  return <List.Item>{t("rewind.tables", { tables: tables.join(", ") })}</List.Item>;
}
