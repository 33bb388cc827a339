import { IconBellRinging } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import styles from "./Alerts.module.css";
import { useOpenAlerts } from "./useAlerts";
import { toLookAfter } from "./worstFirst";

/** How many alerts wait for somebody, in every header; nothing where none does. */
export function AlertBadge() {
  const { t } = useTranslation();
  const waiting = toLookAfter(useOpenAlerts().data?.items ?? []);
  const critical = waiting.filter(({ severity }) => severity === "critical").length;
  return (
    <span aria-live="polite" aria-atomic>
      {waiting.length > 0 && (
        <Link
          to="/monitor"
          className={styles.badge}
          data-severity={critical ? "critical" : "warning"}
          data-testid="alert-badge"
        >
          <IconBellRinging size={14} aria-hidden />
          {t("alerts.badge", { count: waiting.length })}
          {critical > 0 && (
            <span className="visually-hidden">{t("alerts.critical", { count: critical })}</span>
          )}
        </Link>
      )}
    </span>
  );
}
