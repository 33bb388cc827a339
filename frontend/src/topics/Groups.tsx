import { Alert, Skeleton } from "@mantine/core";
import { useTranslation } from "react-i18next";
import styles from "../records/records.module.css";
import { count } from "../text/count";
import { type Place, useGroups } from "./useTopic";

const COLUMNS = ["group", "groupState", "lag", "positions"] as const;

/** The consumer groups that read a topic, and how far behind each is. */
export function Groups({ place }: { place: Place }) {
  const { t } = useTranslation();
  const groups = useGroups(place);
  if (groups.error && !groups.data)
    return (
      <Alert color="red" role="alert">
        {groups.error.message}
      </Alert>
    );
  if (!groups.data) return <Skeleton h={60} />;
  const { items, left_out } = groups.data;
  return (
    <>
      {items.length === 0 ? (
        <p className={styles.said}>{t("topics.noGroups")}</p>
      ) : (
        <div className={styles.scrolled}>
          <table className={styles.list} aria-label={t("topics.groups")}>
            <thead>
              <tr>
                {COLUMNS.map((name) => (
                  <th key={name} scope="col" className={name === "lag" ? styles.number : undefined}>
                    {t(`topics.column.${name}`)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {items.map(({ group, state, lag, partitions }) => (
                <tr key={group}>
                  <td className="mono">{group}</td>
                  <td>{state.replaceAll("_", " ")}</td>
                  <td className={styles.number}>{count(lag)}</td>
                  <td>
                    {partitions
                      .map((at) =>
                        t("topics.position", {
                          partition: at.partition,
                          offset: count(at.offset),
                          lag: count(at.lag),
                        }),
                      )
                      .join(" · ")}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {left_out > 0 && (
        <p className={styles.said}>{t("topics.groupsLeftOut", { count: left_out })}</p>
      )}
      <p className={styles.said}>{t("topics.notGroups")}</p>
    </>
  );
}
