import { Button, Checkbox, Popover, SegmentedControl, Stack } from "@mantine/core";
import {
  IconColumnInsertRight,
  IconDatabaseImport,
  IconFileImport,
  IconPlus,
  IconTrash,
} from "@tabler/icons-react";
import { lazy, Suspense, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Step } from "../api/graph";
import type { Rows } from "../api/types";
import { useCanvas, useCheck } from "../canvas/CanvasContext";
import { StepIcon } from "../canvas/StepIcon";
import { count } from "../text/count";
import { ABOUT, type About, columnsOf, namesIn, shownColumns } from "./columnsOf";
import { PasteRows } from "./PasteRows";
import styles from "./Rehearsal.module.css";
import { RowsTable } from "./RowsTable";
import { replaceRows, setRows, useRehearsal, useRehearsalStore } from "./rehearsalStore";
import { TakeRows, topicsToTake } from "./TakeRows";

const RowsText = lazy(() => import("./RowsText"));

type View = "table" | "text";
type Dialog = "paste" | "take" | null;

/** The rows given to one source: as a table or as text, typed, pasted, or taken from its topic. */
export function SourceRows({ step }: { step: Step }) {
  const { t } = useTranslation();
  const { catalogue } = useCanvas();
  const store = useRehearsalStore();
  const rows = useRehearsal((s) => s.rows[step.id]) ?? NONE;
  const problems = useRehearsal((s) => s.problems);
  const outdated = useRehearsal((s) => s.outdated);
  const checked = useCheck((s) => s.steps[step.id]);
  const [view, setView] = useState<View>("table");
  const [dialog, setDialog] = useState<Dialog>(null);
  const [wanted, setWanted] = useState<About[]>([]);
  const [added, setAdded] = useState<{ row: number } | null>(null);
  const columns = useMemo(() => columnsOf(step, checked), [step, checked]);
  const shown = useMemo(() => shownColumns(columns, rows), [columns, rows]);
  const used = useMemo(() => new Set(namesIn(rows)), [rows]);
  const about = ABOUT.filter((name) => used.has(name) || wanted.includes(name));
  const title = step.label || catalogue.get(step.type)?.title || step.id;
  const wrong = outdated ? [] : problems.filter((p) => p.step === step.id && p.field === "rows");

  const change = (next: Rows) => setRows(store, step.id, next);
  function addRow() {
    change([...rows, {}]);
    setAdded({ row: rows.length });
  }
  function replace(next: Rows) {
    replaceRows(store, { ...store.getState().rows, [step.id]: next });
  }
  function take(taken: Rows, instead: boolean) {
    if (instead) replace(taken);
    else change([...rows, ...taken]);
    setDialog(null);
  }

  return (
    <section className={styles.source} aria-label={title} data-source={step.id}>
      <div className={styles.bar}>
        <h3>
          <StepIcon name={catalogue.get(step.type)?.icon ?? ""} size={15} />
          {title} <span className={styles.id}>{step.id}</span>
        </h3>
        <span className={styles.soft} data-testid="row-count">
          {t("rehearsal.rows", { count: rows.length, shown: count(rows.length) })}
        </span>
        <SegmentedControl
          size="xs"
          aria-label={t("rehearsal.view", { source: title })}
          data={[
            { value: "table", label: t("rehearsal.table") },
            { value: "text", label: t("rehearsal.jsonLines") },
          ]}
          value={view}
          onChange={(next) => setView(next as View)}
        />
        <span className={styles.grow} />
        {view === "table" && (
          <>
            <Tool icon={IconPlus} label={t("rehearsal.addRow")} run={addRow} />
            <AboutMenu about={about} used={used} onWanted={setWanted} />
          </>
        )}
        <Tool icon={IconFileImport} label={t("rehearsal.paste")} run={() => setDialog("paste")} />
        {topicsToTake(step) && (
          <Tool
            icon={IconDatabaseImport}
            label={t("rehearsal.take")}
            run={() => setDialog("take")}
          />
        )}
        {rows.length > 0 && (
          <Tool icon={IconTrash} label={t("rehearsal.clear")} run={() => replace([])} />
        )}
      </div>
      {wrong.slice(0, SHOWN_WRONG).map(({ message }) => (
        <p key={message} className={styles.wrong}>
          {message}
        </p>
      ))}
      {view === "text" ? (
        <Suspense fallback={<div style={{ height: 60 }} />}>
          <RowsText
            rows={rows}
            onChange={change}
            label={t("rehearsal.rowsOf", { source: title })}
          />
        </Suspense>
      ) : (
        rows.length > 0 && (
          <RowsTable
            rows={rows}
            columns={shown}
            about={about}
            title={title}
            wanted={added}
            onChange={change}
          />
        )
      )}
      {dialog === "paste" && (
        <PasteRows
          title={title}
          columns={columns}
          there={rows.length}
          onRows={take}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === "take" && (
        <TakeRows
          step={step}
          title={title}
          there={rows.length}
          onRows={take}
          onClose={() => setDialog(null)}
        />
      )}
    </section>
  );
}

const NONE: Rows = [];
const SHOWN_WRONG = 3;

interface ToolProps {
  icon: typeof IconPlus;
  label: string;
  run: () => void;
}

function Tool({ icon: Icon, label, run }: ToolProps) {
  return (
    <Button
      size="compact-xs"
      variant="default"
      leftSection={<Icon size={13} aria-hidden />}
      onClick={run}
    >
      {label}
    </Button>
  );
}

interface AboutProps {
  about: readonly About[];
  used: Set<string>;
  onWanted: (wanted: About[]) => void;
}

/** Which of the columns about the record are shown; one that rows use can't be hidden. */
function AboutMenu({ about, used, onWanted }: AboutProps) {
  const { t } = useTranslation();
  const toggle = (name: About) =>
    onWanted(about.includes(name) ? about.filter((n) => n !== name) : [...about, name]);
  return (
    <Popover position="bottom-end" trapFocus>
      <Popover.Target>
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<IconColumnInsertRight size={13} aria-hidden />}
        >
          {t("rehearsal.about")}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap={6}>
          {ABOUT.map((name) => (
            <Checkbox
              key={name}
              label={
                <>
                  <span className="mono">{name}</span>: {t(`rehearsal.aboutHelp.${name}`)}
                </>
              }
              checked={about.includes(name)}
              disabled={used.has(name)}
              onChange={() => toggle(name)}
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
