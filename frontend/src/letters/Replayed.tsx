import { Alert } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Outcome } from "./useLetters";

interface Props {
  outcome: Outcome | null;
  onClose: () => void;
}

/** How many letters were replayed just now, and why others were not. */
export function Replayed({ outcome, onClose }: Props) {
  const { t } = useTranslation();
  return (
    <div aria-live="polite">
      {outcome && (
        <Alert
          color={outcome.kept.length > 0 ? "yellow" : "teal"}
          mb="sm"
          withCloseButton
          closeButtonLabel={t("panel.close")}
          onClose={onClose}
          data-testid="replayed"
        >
          {t("letters.replayed", { count: outcome.replayed })}
          {outcome.kept.length > 0 &&
            ` ${t("letters.kept", { count: outcome.kept.length, why: outcome.kept[0] })}`}
        </Alert>
      )}
    </div>
  );
}
