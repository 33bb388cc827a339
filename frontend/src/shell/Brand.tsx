import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import styles from "./Header.module.css";

export function Brand() {
  const { t } = useTranslation();
  return (
    <Link to="/" className={styles.brand} aria-label={t("brand.home")}>
      <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" fill="var(--hr-accent)" />
        <path
          d="M5 11c4 0 4 4 8 4s4-4 8-4 3 2 6 2M5 19c4 0 4 4 8 4s4-4 8-4 3 2 6 2"
          fill="none"
          stroke="var(--hr-panel)"
          strokeWidth="2.6"
          strokeLinecap="round"
        />
      </svg>
      Headrace
    </Link>
  );
}
