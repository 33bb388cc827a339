import { Alert, Button, Group, Modal, Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { type Outcome, replayAll } from "./useLetters";

interface Props {
  deployment: string;
  step: string;
  title: string;
  error: string | null;
  onDone: (outcome: Outcome) => void;
  onClose: () => void;
}

/** Asks before all letters of a step are replayed, and says how far it is. */
export function ReplayAll({ deployment, step, title, error, onDone, onClose }: Props) {
  const { t } = useTranslation();
  const goesOn = useRef(true);
  const [sofar, setSofar] = useState(0);
  const replay = useMutation({
    mutationFn: () =>
      replayAll({
        deployment,
        step,
        error,
        onPortion: (replayed) => {
          setSofar(replayed);
          return goesOn.current;
        },
      }),
    onSuccess: (outcome) => {
      onDone(outcome);
      onClose();
    },
  });
  function close() {
    goesOn.current = false;
    if (!replay.isPending) onClose();
  }
  return (
    <Modal opened onClose={close} title={t("letters.allTitle", { step: title })}>
      <Stack gap="sm">
        <p style={{ margin: 0 }}>{t("letters.allExplain")}</p>
        {error && <p style={{ margin: 0 }}>{t("letters.allOfReason", { error })}</p>}
        <div aria-live="polite">
          {replay.isPending && t("letters.soFar", { count: sofar })}
          {replay.error && (
            <Alert color="red" role="alert">
              {replay.error.message}
            </Alert>
          )}
        </div>
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {t(replay.isPending ? "letters.stop" : "action.cancel")}
          </Button>
          <Button data-autofocus loading={replay.isPending} onClick={() => replay.mutate()}>
            {t("letters.allNow")}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
