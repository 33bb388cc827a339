import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { NavLink } from "react-router";
import { AlertBadge } from "../alerts/AlertBadge";
import { Brand } from "./Brand";
import styles from "./Header.module.css";
import { UserMenu } from "./UserMenu";

/** A page with the header all share, and its content below. */
export function Page({ children }: { children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <div className={styles.page}>
      <a href="#content" className={styles.skip}>
        {t("brand.skip")}
      </a>
      <header className={styles.header}>
        <Brand />
        <nav className={styles.nav} aria-label={t("nav.name")}>
          <NavLink to="/" end className={styles.link}>
            {t("nav.pipelines")}
          </NavLink>
          <NavLink to="/monitor" className={styles.link}>
            {t("nav.monitor")}
          </NavLink>
          <NavLink to="/connections" className={styles.link}>
            {t("nav.connections")}
          </NavLink>
          <NavLink to="/environments" className={styles.link}>
            {t("nav.environments")}
          </NavLink>
        </nav>
        <span className={styles.grow} />
        <AlertBadge />
        <UserMenu />
      </header>
      <main id="content" className={styles.main} tabIndex={-1}>
        <div className={styles.content}>{children}</div>
      </main>
    </div>
  );
}
