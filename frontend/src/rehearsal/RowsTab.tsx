import { Alert, Button } from "@mantine/core";
import { IconAlertTriangle, IconArrowBackUp, IconDeviceFloppy, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Step } from "../api/graph";
import { useCanvas } from "../canvas/CanvasContext";
import { useGraph } from "../canvas/graphStore";
import { sourcesOf } from "./columnsOf";
import styles from "./Rehearsal.module.css";
import { forgetResult, takeBack, useRehearsal, useRehearsalStore } from "./rehearsalStore";
import { SaveCase } from "./SaveCase";
import { SourceRows } from "./SourceRows";

const SHOWN = 5;

/** The rows to test with, by source, and what came of the newest test in one line. */
export function RowsTab({ pipeline }: { pipeline: string }) {
  const { t } = useTranslation();
  const { catalogue } = useCanvas();
  const graph = useGraph((g) => g);
  const store = useRehearsalStore();
  const kept = useRehearsal((s) => s.kept);
  const before = useRehearsal((s) => s.before);
  const sources = sourcesOf(graph, catalogue);
  if (sources.length === 0) return <p className={styles.nothing}>{t("rehearsal.noSources")}</p>;
  return (
    <div className={styles.tab} data-testid="rows-tab">
      <Outcome pipeline={pipeline} sources={sources} />
      {before && (
        <div className={styles.bar}>
          <span className={styles.soft}>{t("rehearsal.replaced")}</span>
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<IconArrowBackUp size={13} aria-hidden />}
            onClick={() => takeBack(store)}
          >
            {t("rehearsal.takeBack")}
          </Button>
        </div>
      )}
      {!kept && (
        <Alert
          color="yellow"
          icon={<IconAlertTriangle size={17} />}
          p="xs"
          classNames={{ icon: styles.warning }}
        >
          {t("rehearsal.notKept")}
        </Alert>
      )}
      {sources.map((step) => (
        <SourceRows key={step.id} step={step} />
      ))}
    </div>
  );
}

function Outcome({ pipeline, sources }: { pipeline: string; sources: Step[] }) {
  const { t } = useTranslation();
  const store = useRehearsalStore();
  const { result, failed, outdated, problems, rows } = useRehearsal((s) => s);
  const [saving, setSaving] = useState(false);
  if (failed !== null)
    return (
      <Alert color="red" icon={<IconAlertTriangle size={17} />} p="xs" title={failed}>
        {problems.slice(0, SHOWN).map(({ step, message }) => (
          <div key={`${step} ${message}`}>{message}</div>
        ))}
        {problems.length > SHOWN && t("rehearsal.moreProblems", { count: problems.length - SHOWN })}
      </Alert>
    );
  if (result === null) {
    const some = sources.some(({ id }) => (rows[id] ?? []).length > 0);
    return <p className={styles.hint}>{t(some ? "rehearsal.ready" : "rehearsal.begin")}</p>;
  }
  const letters = result.dead_letters.length;
  const partly = problems.some((problem) => problem.severity === "error");
  const says = outdated
    ? (`rehearsal.outdated.${outdated}` as const)
    : partly
      ? "rehearsal.partly"
      : "rehearsal.tested";
  return (
    <div className={styles.outcome} data-testid="outcome">
      <span>
        {t(says)}
        {letters > 0 && ` · ${t("rehearsal.deadLetters", { count: letters })}`}
      </span>
      <Button
        size="compact-xs"
        variant="default"
        leftSection={<IconDeviceFloppy size={13} aria-hidden />}
        disabled={outdated !== null || partly}
        title={outdated || partly ? t("rehearsal.saveNeedsTest") : undefined}
        onClick={() => setSaving(true)}
      >
        {t("rehearsal.saveCase")}
      </Button>
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        leftSection={<IconX size={13} aria-hidden />}
        onClick={() => forgetResult(store)}
      >
        {t("rehearsal.forget")}
      </Button>
      {saving && <SaveCase pipeline={pipeline} result={result} onClose={() => setSaving(false)} />}
    </div>
  );
}
