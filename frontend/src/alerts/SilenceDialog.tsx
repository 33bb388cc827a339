import { Alert, Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { type AlertOut, createSilence } from "../api/client";
import { renewAlerts } from "./useAlerts";

const HOUR = 3_600_000;
/** For how long one may silence, as names in `alerts.for`. */
const SPANS = { "1h": HOUR, "4h": 4 * HOUR, "1d": 24 * HOUR, "1w": 168 * HOUR };
type SpanName = keyof typeof SPANS;

interface Props {
  alert: AlertOut;
  onClose: () => void;
}

/** Have nobody told of an alert's rule on its deployment, or of anything there, for a while. */
export function SilenceDialog({ alert, onClose }: Props) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const [what, setWhat] = useState<"both" | "deployment">("both");
  const [chosen, setChosen] = useState<SpanName>("1h");
  const [comment, setComment] = useState("");
  const silence = useMutation({
    mutationFn: () =>
      createSilence({
        body: {
          deployment: alert.deployment.id,
          rule: what === "both" ? alert.rule : null,
          until: new Date(Date.now() + SPANS[chosen]).toISOString(),
          comment,
        },
      }),
    onSuccess: () => {
      renewAlerts(queries);
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    silence.mutate();
  };
  const name = alert.pipeline.name;
  return (
    <Modal opened onClose={onClose} title={t("alerts.silenceTitle")}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <p style={{ margin: 0 }}>{t("alerts.silenceExplain")}</p>
          <Select
            label={t("alerts.silenceWhat")}
            allowDeselect={false}
            data={[
              { value: "both", label: t("alerts.silenceRule", { rule: alert.name, name }) },
              { value: "deployment", label: t("alerts.silenceAll", { name }) },
            ]}
            value={what}
            onChange={(value) => setWhat(value === "deployment" ? value : "both")}
          />
          <Select
            label={t("alerts.forHowLong")}
            allowDeselect={false}
            data={Object.keys(SPANS).map((value) => ({
              value,
              label: t(`alerts.for.${value as SpanName}`),
            }))}
            value={chosen}
            onChange={(value) => setChosen((value ?? "1h") as SpanName)}
          />
          <TextInput
            label={t("alerts.why")}
            maxLength={500}
            value={comment}
            onChange={(event) => setComment(event.currentTarget.value)}
          />
          {silence.error && (
            <Alert color="red" role="alert">
              {silence.error.message}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("action.cancel")}
            </Button>
            <Button type="submit" loading={silence.isPending}>
              {t("alerts.silenceNow")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
