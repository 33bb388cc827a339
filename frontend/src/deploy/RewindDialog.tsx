import { Alert, Button, Group, Modal, Stack } from "@mantine/core";
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
  const { way } = choice.chosen;
  const tables = tablesOf(deployment.graph);
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
          help={t(`rewind.${way as Exclude<Way, "steps">}Help`)}
        />
        <section className={styles.costs} aria-live="polite">
          <h3>
            <IconAlertTriangle size={16} aria-hidden />
            {t("rewind.costs")}
          </h3>
          <ul>
            <li>{t("rewind.forgets")}</li>
            <li>{t(way === "latest" ? "rewind.skips" : "rewind.repeats")}</li>
            {way !== "earliest" && tables.length > 0 && (
              <li>{t("rewind.tables", { tables: tables.join(", ") })}</li>
            )}
            {deployment.desired === "stopped" && <li>{t("rewind.starts")}</li>}
          </ul>
        </section>
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
