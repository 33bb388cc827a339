import { Button, Group, Tooltip } from "@mantine/core";
import {
  IconArrowBackUp,
  IconPlayerPlayFilled,
  IconPlayerSkipBack,
  IconPlayerStopFilled,
  IconRefresh,
} from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { restartDeployment, startDeployment, stopDeployment } from "../api/client";
import type { Deployment } from "../api/types";
import { RewindDialog } from "../deploy/RewindDialog";
import { RollBackDialog } from "../deploy/RollBackDialog";
import { sayError } from "../shell/say";
import styles from "./DeploymentPage.module.css";

/** What an operator may have a deployment do. */
export function Operate({ deployment }: { deployment: Deployment }) {
  const { t } = useTranslation();
  const [asking, setAsking] = useState<"rewind" | "rollBack" | null>(null);
  const path = { deployment_id: deployment.id };
  const call = useMutation({
    mutationFn: (to: typeof stopDeployment) => to({ path }),
    onError: sayError,
  });
  const runs = deployment.desired === "running" && deployment.state !== "failed";
  const before = deployment.version_before;
  return (
    <Group gap={8} wrap="nowrap">
      <Act icon={IconPlayerSkipBack} label={t("rewind.open")} onClick={() => setAsking("rewind")} />
      {before !== null && (
        <Act
          icon={IconArrowBackUp}
          label={t("rollBack.open")}
          onClick={() => setAsking("rollBack")}
        />
      )}
      {runs && (
        <Act
          icon={IconRefresh}
          label={t("deploy.restart")}
          waits={call.isPending}
          onClick={() => call.mutate(restartDeployment)}
        />
      )}
      {runs ? (
        <Act
          icon={IconPlayerStopFilled}
          label={t("deploy.stop")}
          waits={call.isPending}
          onClick={() => call.mutate(stopDeployment)}
        />
      ) : (
        <Act
          icon={IconPlayerPlayFilled}
          label={t("deploy.startAgain")}
          waits={call.isPending}
          filled
          onClick={() => call.mutate(startDeployment)}
        />
      )}
      {asking === "rewind" && (
        <RewindDialog deployment={deployment} onClose={() => setAsking(null)} />
      )}
      {asking === "rollBack" && before !== null && (
        <RollBackDialog deployment={deployment} before={before} onClose={() => setAsking(null)} />
      )}
    </Group>
  );
}

interface ActProps {
  icon: typeof IconRefresh;
  label: string;
  waits?: boolean;
  filled?: boolean;
  onClick: () => void;
}

/** A button that keeps its icon only where there is little room. */
function Act({ icon: Icon, label, waits, filled, onClick }: ActProps) {
  return (
    <Tooltip label={label}>
      <Button
        variant={filled ? "filled" : "default"}
        className={styles.act}
        aria-label={label}
        loading={waits}
        onClick={onClick}
      >
        <Icon size={14} aria-hidden />
        <span className={styles.label}>{label}</span>
      </Button>
    </Tooltip>
  );
}
