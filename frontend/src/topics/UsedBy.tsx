import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { TopicOut } from "../api/client";
import type { DeploymentState } from "../api/types";
import { StateBadge } from "../monitor/StateBadge";
import styles from "../records/records.module.css";
import { count } from "../text/count";

const COLUMNS = ["pipeline", "step", "use", "state", "environment", "behind"] as const;

/** The pipelines that read or write a topic, deployed or only drawn. */
export function UsedBy({ uses }: { uses: TopicOut["used_by"] }) {
  const { t } = useTranslation();
  if (uses.length === 0) return <p className={styles.said}>{t("topics.noUse")}</p>;
  return (
    <div className={styles.scrolled}>
      <table className={styles.list} aria-label={t("topics.usedBy")}>
        <thead>
          <tr>
            {COLUMNS.map((name) => (
              <th key={name} scope="col" className={name === "behind" ? styles.number : undefined}>
                {t(`topics.column.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {uses.map(({ pipeline, name, step, use, deployment, environment, state, lag }) => (
            <tr key={`${deployment ?? pipeline} ${step} ${use}`}>
              <td>
                <Link to={deployment ? `/deployments/${deployment}` : `/pipelines/${pipeline}`}>
                  {name}
                </Link>
              </td>
              <td className="mono">{step}</td>
              <td>{t(`topics.use.${use}`)}</td>
              <td>
                {state ? <StateBadge state={state as DeploymentState} /> : t("topics.onlyDrawn")}
              </td>
              <td>{environment}</td>
              <td className={styles.number}>{lag === null ? "" : count(lag)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
