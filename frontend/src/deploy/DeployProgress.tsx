import { IconCircle, IconCircleCheckFilled } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import type { Deployment } from "../api/types";
import styles from "../monitor/DeploymentPage.module.css";

const STAGES = ["checked", "compiled", "started", "firstRow"] as const;

/** How far a deployment has come: it is answered only when checked and compiled. */
export function reached(deployment: Deployment): Record<(typeof STAGES)[number], boolean> {
  const { state, metrics } = deployment;
  const rows = Object.values(metrics?.steps ?? {}).some((step) => (step.out ?? step.in ?? 0) > 0);
  return { checked: true, compiled: true, started: state === "running" || rows, firstRow: rows };
}

/** The way from the click to the first row, stage by stage. */
export function DeployProgress({ deployment }: { deployment: Deployment }) {
  const { t } = useTranslation();
  const done = reached(deployment);
  return (
    <ol className={styles.progress} aria-label={t("progress.name")}>
      {STAGES.map((stage) => (
        <li key={stage} data-done={done[stage]} data-stage={stage}>
          {done[stage] ? (
            <IconCircleCheckFilled size={14} aria-hidden />
          ) : (
            <IconCircle size={14} aria-hidden />
          )}
          {t(`progress.${stage}`)}
          <span className="visually-hidden">
            {t(done[stage] ? "progress.done" : "progress.waiting")}
          </span>
        </li>
      ))}
    </ol>
  );
}
