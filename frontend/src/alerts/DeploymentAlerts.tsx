import { useTranslation } from "react-i18next";
import styles from "./Alerts.module.css";
import { OneAlert } from "./OneAlert";
import { useOpenAlerts } from "./useAlerts";
import { worstFirst } from "./worstFirst";

/** The alerts of one deployment that last, as a banner on its page; nothing where none does. */
export function DeploymentAlerts({ id }: { id: string }) {
  const { t } = useTranslation();
  const { data } = useOpenAlerts();
  const alerts = worstFirst((data?.items ?? []).filter(({ deployment }) => deployment.id === id));
  return (
    <section
      className={alerts.length > 0 ? styles.banner : undefined}
      aria-label={t("alerts.title")}
    >
      <ul className={styles.list} aria-live="polite">
        {alerts.map((alert) => (
          <OneAlert key={alert.id} alert={alert} here />
        ))}
      </ul>
    </section>
  );
}
