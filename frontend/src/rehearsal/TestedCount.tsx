import { IconFlask } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { count } from "../text/count";
import styles from "./Rehearsal.module.css";
import { useRehearsal } from "./rehearsalStore";

/** How many rows a step gave in the newest test, marked as such. */
export function TestedCount({ step }: { step: string }) {
  const { t } = useTranslation();
  const rows = useRehearsal((s) => s.result?.steps[step]?.count);
  const outdated = useRehearsal((s) => s.outdated);
  if (rows === undefined) return null;
  const says = t(outdated ? `rehearsal.countOutdated.${outdated}` : "rehearsal.count");
  return (
    <output
      className={styles.count}
      data-testid="tested-count"
      data-count={rows}
      data-outdated={outdated !== null}
      aria-live="off"
      title={says}
    >
      <IconFlask size={11} aria-hidden />
      {count(rows)}
      <span className="visually-hidden">{says}</span>
    </output>
  );
}
