import { IconHourglassHigh, IconTrendingUp } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { short } from "../text/count";
import { span } from "../text/span";
import { useLive } from "./CanvasContext";
import styles from "./WaitingRows.module.css";
import type { Place, Waiting } from "./waiting";

/** That rows wait at a place for long, or more and more of them; nothing where they do not. */
export function WaitingRows({ at }: { at: Place }) {
  const waiting = useLive((s) => s.waiting[at]);
  return waiting ? <Shown waiting={waiting} /> : null;
}

function Shown({ waiting }: { waiting: Waiting }) {
  const { t } = useTranslation();
  const { rows, seconds, growing } = waiting;
  const Icon = growing ? IconTrendingUp : IconHourglassHigh;
  return (
    <span className={styles.waiting} data-testid="waiting" data-growing={growing}>
      <Icon size={12} stroke={2} aria-hidden />
      <span>
        {t("canvas.waiting", { rows: short(rows) })}
        {seconds ? t("canvas.waitingSince", { time: span(seconds * 1000) }) : ""}
        {growing && t("canvas.growing")}
      </span>
    </span>
  );
}
