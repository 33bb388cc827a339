import { useTranslation } from "react-i18next";
import type { Step } from "../api/graph";
import styles from "../records/records.module.css";
import { type Fault, valueFaults } from "./valueFaults";

/** Whether the step could read a value: each thing in its way, or that there is none. */
export function ValueFaults({ text, step }: { text: string; step: Step }) {
  const { t } = useTranslation();
  if ((step.config.format ?? "json") !== "json") return null;
  const faults = valueFaults(text, step);
  function sentence(fault: Fault): string {
    if (fault.kind === "notJson") return t("letters.fault.notJson", { why: fault.why });
    if (fault.kind === "noObject") return t("letters.fault.noObject");
    const { column, declared, found } = fault;
    return t("letters.fault.type", { column, declared, found: t(`letters.found.${found}`) });
  }
  return (
    <div aria-live="polite" data-testid="value-faults">
      {faults.length === 0 ? (
        <p className={styles.sound}>{t("letters.sound")}</p>
      ) : (
        <ul className={styles.faults}>
          {faults.map((fault) => (
            <li key={sentence(fault)}>{sentence(fault)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
