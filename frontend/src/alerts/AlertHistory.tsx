import { Pagination, Skeleton } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import styles from "./Alerts.module.css";
import { OneAlert } from "./OneAlert";
import { usePastAlerts } from "./useAlerts";

const PAGE_SIZE = 25;

/** The alerts that are over, newest first. */
export function AlertHistory() {
  const { t } = useTranslation();
  const [page, setPage] = useState(1);
  const { data, error } = usePastAlerts(page);
  const pages = Math.ceil((data?.count ?? 0) / PAGE_SIZE);
  if (error) return <p role="alert">{error.message}</p>;
  if (!data) return <Skeleton h={120} radius="md" />;
  if (data.count === 0) return <p className={styles.quiet}>{t("alerts.noHistory")}</p>;
  return (
    <>
      <ul className={styles.list}>
        {data.items.map((alert) => (
          <OneAlert key={alert.id} alert={alert} />
        ))}
      </ul>
      {pages > 1 && (
        <Pagination
          mt="md"
          size="sm"
          total={pages}
          value={page}
          onChange={setPage}
          aria-label={t("alerts.pages")}
          getItemProps={(n) => ({ "aria-label": t("alerts.page", { page: n }) })}
          getControlProps={(control) => ({ "aria-label": t(`rehearsal.page.${control}`) })}
        />
      )}
    </>
  );
}
