import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { IconFlask, IconX } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useRehearsal } from "./rehearsalStore";

interface Props {
  onTest: () => void;
  onCancel: () => void;
}

/** Try the drawing on the given rows; while that runs, how long it has, and a way to stop it. */
export function TestButton({ onTest, onCancel }: Props) {
  const { t } = useTranslation();
  const startedAt = useRehearsal((s) => s.startedAt);
  const seconds = useSecondsSince(startedAt);
  const running = startedAt !== null;
  return (
    <Button.Group>
      <Tooltip label={t("rehearsal.testHelp")} disabled={running}>
        <Button
          variant="default"
          leftSection={<IconFlask size={14} aria-hidden />}
          aria-disabled={running}
          onClick={onTest}
          data-testid="test"
        >
          {running ? t("rehearsal.testing", { seconds }) : t("rehearsal.test")}
        </Button>
      </Tooltip>
      {running && (
        <Tooltip label={t("rehearsal.cancel")}>
          <ActionIcon
            variant="default"
            size={30}
            aria-label={t("rehearsal.cancel")}
            onClick={onCancel}
          >
            <IconX size={14} />
          </ActionIcon>
        </Tooltip>
      )}
    </Button.Group>
  );
}

function useSecondsSince(moment: number | null): number {
  const [now, setNow] = useState(0);
  useEffect(() => {
    if (moment === null) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [moment]);
  return moment === null ? 0 : Math.max(0, Math.floor((now - moment) / 1_000));
}
