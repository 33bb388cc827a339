import { useTranslation } from "react-i18next";
import type { Deployment } from "../api/types";
import { RelativeTime } from "../text/RelativeTime";
import { span } from "../text/span";
import styles from "./DeploymentPage.module.css";
import { StateBadge } from "./StateBadge";

/** Every process attempt, newest first. */
export function RunsTab({ runs }: { runs: Deployment["runs"] }) {
  const { t } = useTranslation();
  if (runs.length === 0)
    return <p style={{ margin: 0, color: "var(--hr-soft)" }}>{t("runs.none")}</p>;
  return (
    <table className={styles.rows} style={{ width: "100%" }}>
      <thead>
        <tr>
          {(["run", "state", "started", "lasted", "message"] as const).map((name) => (
            <th key={name} scope="col">
              {t(`runs.${name}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {runs.map(({ epoch, state, message, started_at, ended_at }) => (
          <tr key={epoch}>
            <td>{epoch}</td>
            <td>
              <StateBadge state={state} />
            </td>
            <td>
              <RelativeTime at={started_at} />
            </td>
            <td>
              {ended_at ? span(Date.parse(ended_at) - Date.parse(started_at)) : t("runs.still")}
            </td>
            <td title={message}>{message}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
