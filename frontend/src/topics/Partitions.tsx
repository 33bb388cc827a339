import { useTranslation } from "react-i18next";
import type { Partition } from "../api/client";
import styles from "../records/records.module.css";
import { count } from "../text/count";

const COLUMNS = ["partition", "leader", "replicas", "begin", "end", "kept"] as const;

/** Where each partition begins and ends, and who keeps it. */
export function Partitions({ partitions }: { partitions: Partition[] }) {
  const { t } = useTranslation();
  return (
    <div className={styles.scrolled}>
      <table className={styles.list} aria-label={t("topics.partitions")}>
        <thead>
          <tr>
            {COLUMNS.map((name) => (
              <th
                key={name}
                scope="col"
                className={COLUMNS.indexOf(name) > 2 ? styles.number : undefined}
              >
                {t(`topics.column.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {partitions.map(({ partition, leader, replicas, in_sync, begin, end }) => (
            <tr key={partition}>
              <td>{partition}</td>
              <td>{leader ?? t("topics.noLeader")}</td>
              <td>
                {replicas.join(", ")}
                {in_sync.length < replicas.length &&
                  ` (${t("topics.inSync", { brokers: in_sync.join(", ") || "–" })})`}
              </td>
              <td className={styles.number}>{count(begin)}</td>
              <td className={styles.number}>{count(end)}</td>
              <td className={styles.number}>{count(end - begin)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
