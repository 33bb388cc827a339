import { Tooltip } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { DeploymentState } from "../api/types";
import styles from "./StateBadge.module.css";

interface Props {
  state: DeploymentState;
  message?: string;
}

/** A deployment's state as a word and a shape; its sentence on hover. */
export function StateBadge({ state, message }: Props) {
  const { t } = useTranslation();
  return (
    <Tooltip label={message} disabled={!message}>
      <span className={styles.badge} data-state={state}>
        <span className={styles.dot} aria-hidden />
        {t(`state.${state}`)}
      </span>
    </Tooltip>
  );
}
