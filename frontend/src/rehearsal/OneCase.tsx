import { ActionIcon, Button, Tooltip } from "@mantine/core";
import {
  IconCircleCheck,
  IconCircleDashed,
  IconCircleX,
  IconEdit,
  IconLoader,
  IconPlayerPlay,
  IconTableImport,
  IconTrash,
} from "@tabler/icons-react";
import type { TFunction } from "i18next";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { RelativeTime } from "../text/RelativeTime";
import { CaseDiff } from "./CaseDiff";
import { EditCase } from "./EditCase";
import { asExpected } from "./expected";
import styles from "./Rehearsal.module.css";
import { replaceRows, useRehearsalStore } from "./rehearsalStore";
import { type Case, type CaseRuns, type Ran, useChangeCase } from "./useCases";
import { useTitleOf } from "./useTitleOf";

interface Props {
  pipeline: string;
  item: Case;
  runs: CaseRuns;
  onLoaded: () => void;
}

/** A test case: what came of it last, what can be done with it, and where it fails, the rows. */
export function OneCase({ pipeline, item, runs, onLoaded }: Props) {
  const { t } = useTranslation();
  const store = useRehearsalStore();
  const { remove } = useChangeCase(pipeline);
  const [editing, setEditing] = useState(false);
  const [deleting, setDeleting] = useState(false);
  // What came of it before it was changed says nothing any more.
  const ran = item.last ? runs.ran[item.id] : undefined;
  const running = runs.running === "all" || Boolean(runs.running?.includes(item.id));

  function load() {
    replaceRows(store, item.rows);
    onLoaded();
  }

  return (
    <li className={styles.case} data-case={item.name}>
      <div className={styles.caseLine}>
        <Verdict item={item} ran={ran} running={running} drawing={runs.drawing} />
        <span className={styles.caseName}>{item.name}</span>
        <span className={styles.soft}>{sizes(item, t)}</span>
        <span className={styles.grow} />
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<IconPlayerPlay size={12} aria-hidden />}
          disabled={runs.running !== null}
          aria-label={t("rehearsal.runOne", { name: item.name })}
          onClick={() => runs.run([item.id])}
        >
          {t("rehearsal.run")}
        </Button>
        <Tool icon={IconTableImport} label={t("rehearsal.load", { name: item.name })} run={load} />
        <Tool
          icon={IconEdit}
          label={t("rehearsal.edit", { name: item.name })}
          run={() => setEditing(true)}
        />
        <Tool
          icon={IconTrash}
          label={t("rehearsal.delete", { name: item.name })}
          run={() => setDeleting(true)}
        />
      </div>
      {deleting && (
        <div className={styles.caseLine} role="alertdialog" aria-label={t("rehearsal.deleteSure")}>
          {t("rehearsal.deleteSure")}
          <Button size="compact-xs" color="red.9" autoFocus onClick={() => remove.mutate(item.id)}>
            {t("rehearsal.deleteNow")}
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => setDeleting(false)}>
            {t("action.cancel")}
          </Button>
        </div>
      )}
      {ran && !ran.result.passed && (
        <Failure pipeline={pipeline} item={item} ran={ran} runs={runs} />
      )}
      {editing && <EditCase pipeline={pipeline} item={item} onClose={() => setEditing(false)} />}
    </li>
  );
}

function sizes(item: Case, t: TFunction): string {
  const sum = (rows: Record<string, unknown[]>) =>
    Object.values(rows).reduce((n, list) => n + list.length, 0);
  return t("rehearsal.inAndOut", { given: sum(item.rows), expected: sum(item.expected) });
}

interface VerdictProps {
  item: Case;
  ran?: Ran;
  running: boolean;
  drawing: string;
}

function Verdict({ item, ran, running, drawing }: VerdictProps) {
  const { t } = useTranslation();
  const here = ran && ran.drawing === drawing ? ran.result.passed : undefined;
  const current = here !== undefined || Boolean(item.last?.current);
  const passed = here ?? item.last?.passed;
  const verdict = running ? "running" : passed === undefined ? "never" : verdictOf(passed);
  const Icon = {
    running: IconLoader,
    never: IconCircleDashed,
    passed: IconCircleCheck,
    failed: IconCircleX,
  }[verdict];
  return (
    <span className={styles.verdict} data-verdict={verdict} role="status">
      <Icon size={14} aria-hidden />
      {t(`rehearsal.verdict.${verdict}`)}
      {!running && item.last && (
        <span className={styles.soft}>
          {" "}
          <RelativeTime at={item.last.at} />
          {!current && ` · ${t("rehearsal.earlier")}`}
        </span>
      )}
    </span>
  );
}

function verdictOf(passed: boolean) {
  return passed ? ("passed" as const) : ("failed" as const);
}

interface FailureProps {
  pipeline: string;
  item: Case;
  ran: Ran;
  runs: CaseRuns;
}

/** Where a case failed: problems, and each step's rows beside those expected. */
function Failure({ pipeline, item, ran, runs }: FailureProps) {
  const { t } = useTranslation();
  const { change } = useChangeCase(pipeline);
  const { result } = ran;
  const titleOf = useTitleOf();

  function accept() {
    const came = Object.entries(result.steps).map(([id, { rows }]) => [
      id,
      asExpected(rows.flatMap(({ found }) => (found ? [found] : []))),
    ]);
    change.mutate(
      { ...item, expected: { ...item.expected, ...Object.fromEntries(came) } },
      { onSuccess: () => runs.run([item.id]) },
    );
  }

  return (
    <>
      {result.problems.map(({ step, message }) => (
        <p key={`${step} ${message}`} className={styles.wrong}>
          {step ? `${titleOf(step)}: ` : ""}
          {message}
        </p>
      ))}
      {Object.entries(result.steps).map(([id, { passed, rows }]) => (
        <CaseDiff key={id} step={id} title={titleOf(id)} passed={passed} rows={rows} />
      ))}
      {result.problems.length === 0 && (
        <Button
          size="compact-xs"
          variant="default"
          className={styles.accept}
          loading={change.isPending}
          disabled={runs.running !== null}
          onClick={accept}
        >
          {t("rehearsal.accept")}
        </Button>
      )}
      {change.error && <p className={styles.wrong}>{change.error.message}</p>}
    </>
  );
}

interface ToolProps {
  icon: typeof IconEdit;
  label: string;
  run: () => void;
}

function Tool({ icon: Icon, label, run }: ToolProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon size={24} aria-label={label} onClick={run}>
        <Icon size={14} />
      </ActionIcon>
    </Tooltip>
  );
}
