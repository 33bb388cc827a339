import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import styles from "./Alerts.module.css";
import { OneAlert } from "./OneAlert";
import { useOpenAlerts } from "./useAlerts";
import { worstFirst } from "./worstFirst";

/** All alerts that last, worst first: the monitor page's part on alerts. */
export function OpenAlerts() {
  const { t } = useTranslation();
  const { data, error } = useOpenAlerts();
  const alerts = worstFirst(data?.items ?? []);
  return (
    <section className={styles.section} aria-labelledby="open-alerts" data-testid="open-alerts">
      <div className={styles.title}>
        <h2 id="open-alerts">{t("alerts.title")}</h2>
        <Link to="/settings/alerts?tab=history">{t("alerts.history")}</Link>
        <Link to="/settings/alerts">{t("alerts.rules")}</Link>
      </div>
      {error && <p role="alert">{error.message}</p>}
      {data && alerts.length === 0 && <p className={styles.quiet}>{t("alerts.none")}</p>}
      {alerts.length > 0 && (
        <ul className={styles.list}>
          {alerts.map((alert) => (
            <OneAlert key={alert.id} alert={alert} />
          ))}
        </ul>
      )}
      {data && data.count > alerts.length && (
        <p className={styles.quiet}>{t("alerts.more", { count: data.count - alerts.length })}</p>
      )}
    </section>
  );
}
