import { IconAlertTriangle, IconCircleX } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import { useCanvas, useCheck } from "../canvas/CanvasContext";
import { useGraph } from "../canvas/graphStore";
import styles from "./Drawer.module.css";
import type { Editing } from "./useEditing";

/** Every problem; each leads to its step and field. */
export function ProblemsTab({ editing }: { editing: Editing }) {
  const { t } = useTranslation();
  const { catalogue } = useCanvas();
  const problems = useCheck((s) => s.problems);
  const steps = useGraph((graph) => graph.steps);
  if (problems.length === 0) return <p className={styles.nothing}>{t("drawer.noProblems")}</p>;
  return (
    <ul className={styles.problems}>
      {problems.map(({ step: id, field, severity, message }) => {
        const step = steps.find((s) => s.id === id);
        const Icon = severity === "error" ? IconCircleX : IconAlertTriangle;
        return (
          <li key={`${id} ${field} ${message}`}>
            <button
              type="button"
              className={styles.problem}
              data-severity={severity}
              onClick={() => id && editing.show(id, field)}
            >
              <Icon size={15} aria-label={t(`severity.${severity as "error"}`)} />
              <span className={styles.step}>
                {step ? step.label || catalogue.get(step.type)?.title : t("drawer.pipeline")}
              </span>
              <span className={styles.field}>{field}</span>
              <span>{message}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
