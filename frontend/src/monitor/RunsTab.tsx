import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Deployment } from "../api/types";
import { useMayOperate } from "../deploy/useMayOperate";
import header from "../shell/Header.module.css";
import { RelativeTime } from "../text/RelativeTime";
import { span } from "../text/span";
import styles from "./DeploymentPage.module.css";
import { StateBadge } from "./StateBadge";

const COLUMNS = [
  "run",
  "version",
  "state",
  "started",
  "lasted",
  "exit",
  "message",
  "actions",
] as const;

interface Props {
  deployment: Deployment;
  onLog: (epoch: number) => void;
  onDeploy: (version: number) => void;
}

/** Every process attempt, newest first: which version it ran, and how it ended. */
export function RunsTab({ deployment, onLog, onDeploy }: Props) {
  const { t } = useTranslation();
  const may = useMayOperate(deployment.pipeline);
  const { runs, version: deployed } = deployment;
  if (runs.length === 0)
    return <p style={{ margin: 0, color: "var(--hr-soft)" }}>{t("runs.none")}</p>;
  return (
    <table className={styles.records}>
      <thead>
        <tr>
          {COLUMNS.map((name) => (
            <th key={name} scope="col">
              {name === "actions" ? (
                <span className="visually-hidden">{t("runs.actions")}</span>
              ) : (
                t(`runs.${name}`)
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <tr key={run.epoch} data-run={run.epoch}>
            <td>{run.epoch}</td>
            <td>{run.version ?? t("runs.unknownVersion")}</td>
            <td>
              {run.standby && run.ended_at === null ? (
                <span className={header.pill} title={t("runs.standbyHelp")}>
                  {t("runs.standby")}
                </span>
              ) : (
                <StateBadge state={run.state} />
              )}
            </td>
            <td>
              <RelativeTime at={run.started_at} />
            </td>
            <td>
              {run.ended_at
                ? span(Date.parse(run.ended_at) - Date.parse(run.started_at))
                : t("runs.still")}
            </td>
            <td>{run.ended_at && <Exit code={run.exit_code} />}</td>
            <td title={run.message}>{run.message}</td>
            <td className={styles.actions}>
              <Button size="compact-xs" variant="subtle" onClick={() => onLog(run.epoch)}>
                {t("runs.log")}
                <span className="visually-hidden">{t("logs.run", { epoch: run.epoch })}</span>
              </Button>
              {may && run.version !== null && run.version !== deployed && (
                <Button
                  size="compact-xs"
                  variant="subtle"
                  onClick={() => onDeploy(run.version as number)}
                >
                  {t("versions.deployOne", { version: run.version })}
                </Button>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// What a run says with its exit code.
const MEANT = new Map([
  [0, "exit.asked"],
  [65, "exit.permanent"],
  [75, "exit.outside"],
] as const);

/** How a process ended, in words where its code has a meaning. */
export function Exit({ code }: { code: number | null }) {
  const { t } = useTranslation();
  if (code === null) return t("exit.none");
  const said = t("exit.code", { code });
  const meant = MEANT.get(code as 0);
  return <span title={said}>{meant ? t(meant) : said}</span>;
}
