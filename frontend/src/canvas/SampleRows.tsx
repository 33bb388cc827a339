import { Fragment } from "react";
import { useTranslation } from "react-i18next";
import type { Rows } from "../api/types";
import { useLive } from "./CanvasContext";
import styles from "./StepCard.module.css";

const SHOWN = 3;
const NONE: Rows = [];

/** Under a step that shows its rows: the newest few, newest last. Nothing under any other. */
export function SampleRows({ step }: { step: string }) {
  const { t } = useTranslation();
  const rows = useLive((s) => s.samples[step] ?? NONE);
  if (rows.length === 0) return null;
  const newest = rows.slice(-SHOWN);
  return (
    <ul className={styles.samples} aria-label={t("canvas.newestRows")} data-rows-on={step}>
      {newest.map((row, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name of their own
        <li key={i} title={JSON.stringify(row)}>
          {Object.entries(row).map(([name, value], n) => (
            <Fragment key={name}>
              {n > 0 && " · "}
              {name} <b>{brief(value)}</b>
            </Fragment>
          ))}
        </li>
      ))}
    </ul>
  );
}

function brief(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
