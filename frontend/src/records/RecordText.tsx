import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { hexDump } from "./hexDump";
import { pretty } from "./pretty";
import styles from "./records.module.css";

interface Props {
  label: string;
  text: string | null;
  encoding: "text" | "base64";
}

/** A key or value as it came: JSON set out, other text as it is, bytes as hex. */
export function RecordText({ label, text, encoding }: Props) {
  const { t } = useTranslation();
  const shown = useMemo(() => {
    if (text === null) return null;
    return encoding === "base64" ? hexDump(text) : (pretty(text) ?? text);
  }, [text, encoding]);
  return (
    <section className={styles.part} aria-label={label}>
      <h3>
        {label} {encoding === "base64" && <small>{t("record.bytes")}</small>}
      </h3>
      {shown === null ? (
        <p className={styles.none}>{t("record.null")}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        <pre tabIndex={0}>{shown === "" ? " " : shown}</pre>
      )}
    </section>
  );
}
