import { IconAlertTriangle, IconCircleX } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import type { Problem } from "../api/types";
import { useCanvas, useCheck } from "../canvas/CanvasContext";
import { changeConfig } from "../canvas/editGraph";
import { useGraph, useGraphStore } from "../canvas/graphStore";
import { titleOf } from "../form/formSchema";
import { mendField } from "../form/mendField";
import { readMistake } from "../form/mistake";
import { UseSuggestion } from "../form/widgets/Sentences";
import styles from "./Drawer.module.css";
import type { Editing } from "./useEditing";

/** Every problem; each leads to its step and field, or is mended on the spot. */
export function ProblemsTab({ editing }: { editing: Editing }) {
  const { t } = useTranslation();
  const problems = useCheck((s) => s.problems);
  if (problems.length === 0) return <p className={styles.nothing}>{t("drawer.noProblems")}</p>;
  return (
    <ul className={styles.problems}>
      {problems.map((problem) => (
        <Row
          key={`${problem.step} ${problem.field} ${problem.message}`}
          problem={problem}
          editing={editing}
        />
      ))}
    </ul>
  );
}

function Row({ problem, editing }: { problem: Problem; editing: Editing }) {
  const { t } = useTranslation();
  const { catalogue } = useCanvas();
  const store = useGraphStore();
  const { step: id, field, severity, message } = problem;
  const step = useGraph((graph) => graph.steps.find((s) => s.id === id));
  const type = catalogue.get(step?.type ?? "");
  const Icon = severity === "error" ? IconCircleX : IconAlertTriangle;
  const mistake = readMistake(message);
  const config =
    step && type && field && mistake?.right
      ? mendField(type.schema, step.config, field, mistake.wrong, mistake.right)
      : null;
  return (
    <li style={{ display: "flex", alignItems: "baseline", gap: 8 }}>
      <button
        type="button"
        className={styles.problem}
        data-severity={severity}
        onClick={() => id && editing.show(id, field)}
      >
        <Icon size={15} aria-label={t(`severity.${severity as "error"}`)} />
        <span className={styles.step}>
          {step ? step.label || type?.title : t("drawer.pipeline")}
        </span>
        <span className={styles.field}>{field && type ? titleOf(type.schema, field) : field}</span>
        <span>{message}</span>
      </button>
      {step && config && mistake?.right && (
        <UseSuggestion
          name={mistake.right}
          onUse={() => store.change((graph) => changeConfig(graph, step.id, config))}
        />
      )}
    </li>
  );
}
