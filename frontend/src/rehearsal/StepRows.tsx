import { IconFlask } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import type { Step } from "../api/graph";
import type { StepType } from "../api/stepTypes";
import { useCanvas, useCheck } from "../canvas/CanvasContext";
import { useGraph } from "../canvas/graphStore";
import { inputOf, inputsOf } from "../canvas/ports";
import { count } from "../text/count";
import styles from "./Rehearsal.module.css";
import { ResultRows } from "./ResultRows";
import { useRehearsal } from "./rehearsalStore";
import { useTitleOf } from "./useTitleOf";

const ANCHOR = "rows-of-step";

/** The rows that came into a step and out of it in the newest test; nothing before there is one. */
export function StepRows({ step, type }: { step: Step; type: StepType }) {
  const { t } = useTranslation();
  const { catalogue } = useCanvas();
  const graph = useGraph((g) => g);
  const known = useCheck((s) => s.steps);
  const result = useRehearsal((s) => s.result);
  const outdated = useRehearsal((s) => s.outdated);
  const titleOf = useTitleOf();
  if (result === null) return null;
  const inputs = inputsOf(step, type);
  const arriving = graph.edges.filter((edge) => edge.to === step.id);
  const letters = result.dead_letters
    .filter((letter) => letter._step === step.id)
    .map(({ _step, ...letter }) => letter);
  const isBranch = (id: string) =>
    Boolean(catalogue.get(graph.steps.find((s) => s.id === id)?.type ?? "")?.outputs_from);
  const gave = result.steps[step.id];
  return (
    <div className={styles.stepRows} id={ANCHOR} data-testid="step-rows">
      {outdated && <p className={styles.hint}>{t(`rehearsal.outdated.${outdated}`)}</p>}
      {arriving.map((edge) => {
        const came = result.steps[edge.from];
        if (!came) return null;
        const from =
          inputs.length > 1 || arriving.length > 1
            ? t("rehearsal.inFrom", { input: inputOf(edge, inputs), step: titleOf(edge.from) })
            : t("rehearsal.in");
        return (
          <Section
            key={`${edge.from} ${edge.output} ${edge.port}`}
            title={from}
            rows={came.rows}
            all={came.count}
            keys={known[edge.from]?.key}
            note={isBranch(edge.from) ? t("rehearsal.allBranches") : undefined}
          />
        );
      })}
      {gave && (
        <Section
          title={t(type.group === "Sinks" ? "rehearsal.written" : "rehearsal.out")}
          rows={gave.rows}
          all={gave.count}
          keys={[...(known[step.id]?.key ?? []), ...(type.group === "Sinks" ? ["_key"] : [])]}
        />
      )}
      {letters.length > 0 && (
        <Section
          title={t("rehearsal.deadLettersTitle")}
          rows={letters}
          all={letters.length}
          keys={["_key"]}
        />
      )}
    </div>
  );
}

/** How many rows came in and out in the newest test; leads to them. */
export function StepRowsLink({ step }: { step: Step }) {
  const { t } = useTranslation();
  const result = useRehearsal((s) => s.result);
  const arriving = useGraph((graph) => graph.edges).filter((edge) => edge.to === step.id);
  const gave = result?.steps[step.id];
  if (!result || !gave) return null;
  const came = arriving.reduce((n, edge) => n + (result.steps[edge.from]?.count ?? 0), 0);
  const says = arriving.length > 0 ? "rehearsal.inAndOutOf" : "rehearsal.outOf";
  return (
    <button
      type="button"
      className={styles.link}
      onClick={(event) => showBelow(event.currentTarget.closest("aside"))}
    >
      <IconFlask size={12} aria-hidden />
      {t(says, { in: count(came), out: count(gave.count) })}
    </button>
  );
}

function showBelow(panel: HTMLElement | null) {
  const rows = document.getElementById(ANCHOR);
  if (!panel || !rows) return;
  const below = rows.getBoundingClientRect().top - panel.getBoundingClientRect().top;
  panel.scrollBy({ top: below - 8 });
}

interface SectionProps {
  title: string;
  rows: Record<string, unknown>[];
  all: number;
  keys?: string[];
  note?: string;
}

function Section({ title, rows, all, keys, note }: SectionProps) {
  const { t } = useTranslation();
  return (
    <div className={styles.section}>
      <h3>
        {title} <span className={styles.soft}>{count(all)}</span>
      </h3>
      {note && <p className={styles.hint}>{note}</p>}
      {rows.length === 0 ? (
        <p className={styles.hint}>{t("rehearsal.none")}</p>
      ) : (
        <ResultRows rows={rows} all={all} keys={keys} label={title} />
      )}
    </div>
  );
}
