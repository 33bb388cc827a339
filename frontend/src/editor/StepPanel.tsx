import { ActionIcon, Button, MultiSelect, Select, TextInput, Tooltip } from "@mantine/core";
import { IconCopy, IconTrash, IconX } from "@tabler/icons-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Config, Graph, Kind, Step } from "../api/graph";
import type { InputPort, StepType } from "../api/stepTypes";
import type { CheckedStep, Problem } from "../api/types";
import { useCanvas, useCheck, useSelection } from "../canvas/CanvasContext";
import { whyNot } from "../canvas/connectionRules";
import {
  addEdge,
  changeConfig,
  changeId,
  changeLabel,
  dropLostOutputs,
  freeId,
  isId,
  removeEdges,
} from "../canvas/editGraph";
import { useGraph, useGraphStore } from "../canvas/graphStore";
import {
  certainKindOf,
  edgeBetween,
  followInputs,
  inputOf,
  inputsOf,
  kindOf,
  outputOf,
  outputsOf,
} from "../canvas/ports";
import { StepIcon } from "../canvas/StepIcon";
import { select } from "../canvas/selectionStore";
import type { KnownColumn } from "../form/FormContext";
import { fieldAt, formSchema } from "../form/formSchema";
import { fieldId, fieldless, StepForm } from "../form/StepForm";
import { renameSource, useRehearsalStore } from "../rehearsal/rehearsalStore";
import { StepRows, StepRowsLink } from "../rehearsal/StepRows";
import { Help } from "../text/Help";
import { Columns } from "./Columns";
import styles from "./StepPanel.module.css";
import type { Editing } from "./useEditing";

/** The selected step: its names, where its rows come from, its form, its columns. */
export function StepPanel({ editing }: { editing: Editing }) {
  const { t } = useTranslation();
  const { catalogue } = useCanvas();
  const chosen = useSelection((s) => s.steps);
  const step = useGraph((graph) =>
    chosen.length === 1 ? graph.steps.find((s) => s.id === chosen[0]) : undefined,
  );
  const type = catalogue.get(step?.type ?? "");
  if (step && type) return <OneStep key={step.id} step={step} type={type} editing={editing} />;
  return (
    <aside className={styles.panel} aria-label={t("panel.name")}>
      <p className={styles.hint}>
        {chosen.length > 1 ? t("panel.several", { count: chosen.length }) : t("panel.none")}
      </p>
      {chosen.length > 1 && (
        <Button variant="default" onClick={() => editing.remove(false)}>
          {t("action.delete")}
        </Button>
      )}
    </aside>
  );
}

function OneStep({ step, type, editing }: { step: Step; type: StepType; editing: Editing }) {
  const { t } = useTranslation();
  const { selection } = useCanvas();
  const store = useGraphStore();
  const panel = useRef<HTMLElement>(null);
  const problems = useCheck((s) => s.problems).filter((p) => p.step === step.id);
  const checked = useCheck((s) => s.steps[step.id]);
  const segment = useCheck((s) => s.segments.find((part) => part.id === checked?.segment));
  const inflow = useInflow(step, type);
  const inputs = inputsOf(step, type);
  // A problem names an input as it names a field; where there are both, it is the input's.
  const ofInputs = new Set(inputs.map(({ name }) => name));
  const others = problems.filter(({ field }) => field === null || !ofInputs.has(field));
  const wanted = useSelection((s) => (s.field?.step === step.id ? s.field : null));

  useEffect(() => {
    if (wanted && panel.current) focusField(panel.current, type, wanted.field);
  }, [wanted, type]);

  function change(config: Config, field: string) {
    store.change((graph) => {
      const next = followInputs(
        changeConfig(graph, step.id, config),
        step.id,
        inputsOf(step, type),
        inputsOf({ ...step, config }, type),
      );
      if (type.outputs_from === null) return next;
      return dropLostOutputs(next, step.id, outputsOf({ ...step, config }, type));
    }, `${step.id} ${field}`);
  }

  return (
    <aside
      ref={panel}
      className={styles.panel}
      aria-label={t("panel.of", { step: step.label || type.title })}
      tabIndex={-1}
      data-testid="step-panel"
    >
      <div className={styles.heading}>
        <StepIcon name={type.icon} size={17} />
        <h2 style={{ flex: 1, margin: 0, fontSize: 15 }}>{step.label || type.title}</h2>
        <Tooltip label={t("action.duplicate")}>
          <ActionIcon aria-label={t("action.duplicate")} onClick={editing.duplicate}>
            <IconCopy size={15} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={t("action.delete")}>
          <ActionIcon aria-label={t("action.delete")} onClick={() => editing.remove(false)}>
            <IconTrash size={15} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={t("panel.close")}>
          <ActionIcon aria-label={t("panel.close")} onClick={() => select(selection, [])}>
            <IconX size={15} />
          </ActionIcon>
        </Tooltip>
      </div>
      <div className={styles.says}>
        <Flow type={type} checked={checked} inflow={inflow.kinds} />
        <p>
          <Help text={type.help} />
        </p>
        <StepRowsLink step={step} />
      </div>
      <Problems problems={fieldless(type.schema, others)} />
      <Names step={step} type={type} />
      {inputs.map((port) => (
        <Input
          key={port.name}
          step={step}
          type={type}
          port={port}
          problems={problems.filter(({ field }) => field === port.name)}
        />
      ))}
      <div style={{ marginTop: 12 }}>
        <StepForm
          type={type}
          config={step.config}
          problems={others}
          context={{ columns: inflow.columns, byPort: inflow.byPort, kinds: inflow.certain }}
          onChange={change}
        />
      </div>
      <StepRows step={step} type={type} />
      {type.inputs.length > 0 && inflow.columns.length > 0 && (
        <section className={styles.section}>
          <h3>{t("panel.columnsIn")}</h3>
          <Columns columns={inflow.columns} />
        </section>
      )}
      {checked && type.outputs.length > 0 && (
        <section className={styles.section}>
          <h3>{t("panel.columnsOut")}</h3>
          <Columns
            columns={checked.columns}
            keys={checked.key}
            before={type.inputs.length ? inflow.columns : undefined}
          />
        </section>
      )}
      {segment && (
        <section className={styles.section}>
          <h3>{t(segment.mode === "real_time" ? "panel.whyRealTime" : "panel.whyMicroBatch")}</h3>
          <p className={styles.hint} style={{ margin: 0 }}>
            {segment.reason}
          </p>
        </section>
      )}
    </aside>
  );
}

function Flow({
  type,
  checked,
  inflow,
}: {
  type: StepType;
  checked?: CheckedStep;
  inflow: string[];
}) {
  const { t } = useTranslation();
  const out = type.outputs.length ? checked?.kind : undefined;
  return (
    <div className={styles.flow}>
      <span>{type.title}</span>
      {(inflow.length > 0 || out) && <span aria-hidden>·</span>}
      {inflow.map((kind, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the ports have a fixed order
        <span key={i} className={styles.kind} data-kind={kind}>
          {t(`kind.${kind as "stream"}`)}
        </span>
      ))}
      {inflow.length > 0 && out && <span>→</span>}
      {out && (
        <span className={styles.kind} data-kind={out}>
          {checked?.key.length
            ? t("panel.keyedBy", { kind: t(`kind.${out}`), key: checked.key.join(", ") })
            : t(`kind.${out}`)}
        </span>
      )}
    </div>
  );
}

function Problems({ problems }: { problems: { message: string; severity: string }[] }) {
  if (problems.length === 0) return null;
  return (
    <ul style={{ margin: "0 0 10px", padding: 0 }}>
      {problems.map(({ message, severity }) => (
        <li key={message} className={styles.problem} data-severity={severity}>
          {message}
        </li>
      ))}
    </ul>
  );
}

function Names({ step, type }: { step: Step; type: StepType }) {
  const { t } = useTranslation();
  const { selection } = useCanvas();
  const store = useGraphStore();
  const rehearsal = useRehearsalStore();
  const [id, setId] = useState(step.id);
  const wrong = idProblem(store.graph(), step.id, id);

  function rename() {
    if (wrong) return setId(step.id);
    if (id === step.id) return;
    store.change((graph) => changeId(graph, step.id, id));
    renameSource(rehearsal, step.id, id);
    select(selection, [id]);
  }

  return (
    <div style={{ display: "flex", gap: 8 }}>
      <TextInput
        style={{ flex: 1 }}
        label={t("panel.label")}
        value={step.label ?? ""}
        placeholder={type.title}
        maxLength={200}
        onChange={(event) => {
          const label = event.currentTarget.value;
          store.change((graph) => changeLabel(graph, step.id, label), `${step.id} label`);
        }}
      />
      <TextInput
        style={{ width: 128 }}
        label={t("panel.id")}
        value={id}
        error={wrong && t(`panel.${wrong}`)}
        classNames={{ input: "mono" }}
        onChange={(event) => setId(event.currentTarget.value)}
        onBlur={rename}
        onKeyDown={(event) => event.key === "Enter" && rename()}
      />
    </div>
  );
}

const PYTHON_WORDS = new Set(
  "and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield spark print".split(
    " ",
  ),
);

/** Why a step can't be called so: the key of a sentence; undefined where it can. */
export function idProblem(graph: Graph, id: string, wanted: string) {
  if (wanted === id) return undefined;
  if (!isId(wanted)) return "idShape";
  if (PYTHON_WORDS.has(wanted)) return "idWord";
  return freeId(graph, wanted) === wanted ? undefined : "idTaken";
}

interface InputProps {
  step: Step;
  type: StepType;
  port: InputPort;
  problems: Problem[];
}

/** Where an input's rows come from: what drawing an edge does, without drawing. */
function Input({ step, type, port, problems }: InputProps) {
  const { t } = useTranslation();
  const { catalogue, check } = useCanvas();
  const store = useGraphStore();
  const graph = useGraph((g) => g);
  const inputs = inputsOf(step, type);
  const arriving = graph.edges.filter((e) => e.to === step.id && inputOf(e, inputs) === port.name);
  const value = arriving.map((e) => `${e.from}|${outputOf(e)}`);
  const without = port.many ? graph : removeEdges(graph, arriving);
  const data = graph.steps.flatMap((from) => {
    const fromType = catalogue.get(from.type);
    if (!fromType || from.id === step.id) return [];
    return outputsOf(from, fromType).flatMap((output) => {
      const key = `${from.id}|${output}`;
      const drawn = { from: from.id, output, to: step.id, input: port.name };
      const may = value.includes(key) || !whyNot(without, catalogue, check.getState().steps, drawn);
      const name = from.label || fromType.title;
      const branch = fromType.outputs_from ? ` · ${output}` : "";
      return may ? [{ value: key, label: `${name}${branch} (${from.id})` }] : [];
    });
  });

  function choose(keys: string[]) {
    store.change((g) => {
      let next = removeEdges(
        g,
        arriving.filter((e) => !keys.includes(`${e.from}|${outputOf(e)}`)),
      );
      for (const key of keys) {
        const [from = "", output = "rows"] = key.split("|");
        next = addEdge(next, edgeBetween(next, catalogue, from, output, step.id, port.name));
      }
      return next;
    });
  }

  const label =
    inputs.length > 1 || type.inputs_from
      ? t("panel.inputNamed", { input: port.name })
      : t("panel.input");
  const shared = {
    label,
    data,
    mt: 10,
    searchable: true,
    nothingFoundMessage: t("panel.noInputs"),
    error: problems.map(({ message }) => message).join(" ") || undefined,
  };
  if (port.many) return <MultiSelect {...shared} value={value} onChange={choose} />;
  return (
    <Select
      {...shared}
      value={value[0] ?? null}
      placeholder={t("panel.chooseInput")}
      clearable
      onChange={(key) => choose(key ? [key] : [])}
    />
  );
}

/** What flows into a step: kinds in the order of its ports, columns together and by port. */
function useInflow(step: Step, type: StepType) {
  const { catalogue } = useCanvas();
  const known = useCheck((s) => s.steps);
  const graph = useGraph((g) => g);
  return useMemo(() => {
    const byPort: Record<string, KnownColumn[]> = {};
    const kinds: string[] = [];
    const certain: Record<string, Kind> = {};
    const inputs = inputsOf(step, type);
    for (const port of inputs) {
      const edge = graph.edges.find((e) => e.to === step.id && inputOf(e, inputs) === port.name);
      if (!edge) continue;
      kinds.push(kindOf(graph, catalogue, known, edge.from));
      const kind = certainKindOf(graph, catalogue, known, edge.from);
      if (kind) certain[port.name] = kind;
      byPort[port.name] = known[edge.from]?.columns ?? [];
    }
    const all = new Map(
      Object.values(byPort)
        .flat()
        .map((column) => [column.name, column]),
    );
    return { kinds, certain, byPort, columns: [...all.values()] };
  }, [graph, known, catalogue, step, type]);
}

function focusField(panel: HTMLElement, type: StepType, field: string) {
  const path = fieldAt(formSchema(type.schema), field);
  const at = path
    ? (document.getElementById(`${fieldId(path)}-editor`) ?? document.getElementById(fieldId(path)))
    : null;
  const target = at?.matches("input,textarea,select,[contenteditable],[tabindex]")
    ? at
    : at?.querySelector<HTMLElement>("input,textarea,[contenteditable]");
  (target ?? panel).focus();
  (target ?? panel).scrollIntoView({ block: "nearest" });
}
