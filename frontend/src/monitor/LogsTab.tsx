import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { getLogs } from "../api/client";
import type { Deployment } from "../api/types";
import styles from "./DeploymentPage.module.css";

const REFRESH_MS = 3_000;

/** The last lines that the newest run has written. */
export function LogsTab({ deployment }: { deployment: Deployment }) {
  const { t } = useTranslation();
  const resting = deployment.state === "stopped" || deployment.state === "failed";
  const logs = useQuery({
    queryKey: ["logs", deployment.id, deployment.runs[0]?.epoch],
    queryFn: () => getLogs({ path: { deployment_id: deployment.id } }),
    refetchInterval: resting ? false : REFRESH_MS,
  });
  if (logs.error && !logs.data) return <p role="alert">{logs.error.message}</p>;
  if (!logs.data) return <Skeleton h={80} />;
  if (logs.data.lines.length === 0)
    return <p style={{ margin: 0, color: "var(--hr-soft)" }}>{t("logs.none")}</p>;
  return (
    <>
      <h3 className={styles.heading}>
        {t("logs.run", { epoch: logs.data.epoch })}{" "}
        {logs.data.truncated && `· ${t("logs.truncated")}`}
      </h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className={styles.log} tabIndex={0}>
        {logs.data.lines.join("\n")}
      </pre>
    </>
  );
}
