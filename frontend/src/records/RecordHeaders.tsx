import { useTranslation } from "react-i18next";
import type { RecordHeader } from "../api/client";
import styles from "./records.module.css";

/** The headers of a record; nothing where it has none. */
export function RecordHeaders({ headers }: { headers: RecordHeader[] }) {
  const { t } = useTranslation();
  if (headers.length === 0) return null;
  return (
    <section className={styles.part} aria-label={t("record.headers")}>
      <h3>{t("record.headers")}</h3>
      <dl className={styles.headers}>
        {headers.map(({ name, value, encoding }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a header may be there twice
          <div key={i}>
            <dt>{name}</dt>
            <dd>
              {value ?? t("record.null")}
              {encoding === "base64" && ` (${t("record.base64")})`}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
