import { useTranslation } from "react-i18next";
import styles from "./records.module.css";

const SHOWN = 240;

/** A key or value in a line of a list. */
export function Preview({ text, encoding }: { text: string | null; encoding: string }) {
  const { t } = useTranslation();
  if (text === null) return <span className={styles.none}>{t("record.null")}</span>;
  if (encoding === "base64") return <span className={styles.none}>{t("record.bytes")}</span>;
  if (text === "") return <span className={styles.none}>{t("record.empty")}</span>;
  return <span className="mono">{text.slice(0, SHOWN)}</span>;
}
