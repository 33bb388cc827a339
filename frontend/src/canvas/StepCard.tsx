import { Handle, type NodeProps, Position, useUpdateNodeInternals } from "@xyflow/react";
import { memo, useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Kind, Step } from "../api/graph";
import type { StepType } from "../api/stepTypes";
import { useRehearsal } from "../rehearsal/rehearsalStore";
import { TestedCount } from "../rehearsal/TestedCount";
import { count, rate, short } from "../text/count";
import { useCanvas, useCheck, useLive } from "./CanvasContext";
import type { StepNode } from "./flow";
import { useGraph } from "./graphStore";
import { countOf } from "./liveStore";
import { certainKindOf, inputOf, inputsOf, kindOf, outputsOf } from "./ports";
import { SampleRows } from "./SampleRows";
import styles from "./StepCard.module.css";
import { StepIcon } from "./StepIcon";
import { summary } from "./summary";
import { WaitingRows } from "./WaitingRows";
import { beforeStep } from "./waiting";

/** A step on the canvas: what it is, what it does in the user's words, what is wrong, its count. */
export const StepCard = memo(function StepCard({ id, data, selected }: NodeProps<StepNode>) {
  const { t } = useTranslation();
  const { catalogue, readOnly } = useCanvas();
  const { step } = data;
  const type = catalogue.get(step.type);
  const errors = useCheck(
    (s) => s.problems.filter((p) => p.step === id && p.severity === "error").length,
  );
  const warnings = useCheck((s) => s.problems.filter((p) => p.step === id).length) - errors;
  const faulty = useLive((s) => s.faulty === id);
  const says = summary(step);
  const problems = errors + (faulty ? 1 : 0);

  return (
    <article
      className={styles.card}
      data-step-id={id}
      data-step-type={step.type}
      data-group={type?.group}
      data-selected={selected}
      data-problems={problems > 0}
    >
      <h2 className={styles.title}>
        <StepIcon name={type?.icon ?? ""} />
        <span className={styles.label} title={step.label || type?.title}>
          {step.label || type?.title || step.type}
        </span>
        {problems > 0 ? (
          <span
            className={styles.badge}
            aria-label={t("canvas.problems", { count: problems })}
            role="img"
          >
            {problems}
          </span>
        ) : (
          warnings > 0 && (
            <span
              className={styles.badge}
              data-severity="warning"
              aria-label={t("canvas.warnings", { count: warnings })}
              role="img"
            >
              {warnings}
            </span>
          )
        )}
      </h2>
      <p className={styles.summary} title={says}>
        {says || "\u00a0"}
      </p>
      <div className={styles.foot}>
        {/* Without a label that is the heading already. */}
        <span>{type ? step.label && type.title : t("canvas.unknownType")}</span>
        <Count id={id} isSink={type?.group === "Sinks"} />
      </div>
      <Marks id={id} />
      <SampleRows step={id} />
      {type && <Inputs step={step} type={type} connectable={!readOnly} />}
      {type && <Outputs step={step} type={type} connectable={!readOnly} />}
    </article>
  );
});

/** What went wrong at a step, and what waits before it; nothing where all is well. */
function Marks({ id }: { id: string }) {
  const { t } = useTranslation();
  const errors = useLive((s) => s.steps[id]?.errors ?? 0);
  const dropped = useLive((s) => s.steps[id]?.dropped ?? 0);
  return (
    <div className={styles.marks}>
      <WaitingRows at={beforeStep(id)} />
      {dropped > 0 && (
        <span className={styles.mark} data-mark="dropped" data-count={dropped}>
          {t("canvas.dropped", { count: dropped, shown: short(dropped) })}
        </span>
      )}
      {errors > 0 && <DeadLetters step={id} errors={errors} />}
    </div>
  );
}

/** How many records a step put aside; where a deployment is watched, the way to them. */
function DeadLetters({ step, errors }: { step: string; errors: number }) {
  const { t } = useTranslation();
  const { readOnly } = useCanvas();
  const said = {
    className: styles.mark,
    "data-mark": "errors",
    "data-count": errors,
    children: t("canvas.errors", { count: errors, shown: short(errors) }),
  };
  return readOnly ? (
    <Link {...said} to={`?tab=letters&step=${step}`} className={`${styles.mark} nodrag nopan`} />
  ) : (
    <span {...said} />
  );
}

function Count({ id, isSink }: { id: string; isSink: boolean }) {
  const { t } = useTranslation();
  const metrics = useLive((s) => s.steps[id]);
  const on = useLive((s) => s.on);
  const over = useLive((s) => s.over);
  const tested = useRehearsal((s) => s.result?.steps[id] !== undefined);
  if (tested) return <TestedCount step={id} />;
  if (!metrics) return null;
  const rows = countOf(metrics, isSink);
  if (rows === null) return null;
  return (
    <span className={styles.numbers}>
      {on && metrics.rate > 0 && <span>{rate(metrics.rate)}</span>}
      <output
        className={styles.count}
        data-testid="step-count"
        data-count={rows}
        aria-live="off"
        title={over ?? t("canvas.rowsSince")}
      >
        {count(rows)}
      </output>
    </span>
  );
}

function Inputs({ step, type, connectable }: { step: Step; type: StepType; connectable: boolean }) {
  const { t } = useTranslation();
  const { catalogue } = useCanvas();
  const known = useCheck((s) => s.steps);
  const inputs = inputsOf(step, type);
  const said = useGraph((graph) => {
    const arriving = graph.edges.filter((e) => e.to === step.id);
    const ports = inputs.map((port) => {
      const edge = arriving.find((e) => inputOf(e, inputs) === port.name);
      const kind = edge && certainKindOf(graph, catalogue, known, edge.from);
      return [port.name, kind ?? (port.kinds.length === 1 ? port.kinds[0] : "any")];
    });
    // An edge to an input that the step has no more is drawn to where it says it ends.
    const names = new Set(inputs.map((port) => port.name));
    const lost = arriving.map((e) => inputOf(e, inputs)).filter((name) => !names.has(name));
    return JSON.stringify([...ports, ...[...new Set(lost)].map((name) => [name, "lost"])]);
  });
  const ports = JSON.parse(said) as [string, Kind | "any" | "lost"][];
  useMovedPorts(step.id, ports.map(([name]) => name).join("\n"));
  const named = ports.length > 1 || type.inputs_from !== null;
  return ports.map(([name, kind], i) => (
    <Handle
      key={name}
      id={name}
      type="target"
      position={Position.Left}
      className={styles.port}
      data-kind={kind}
      data-port={name}
      isConnectable={connectable && kind !== "lost"}
      style={{ top: `${((i + 1) / (ports.length + 1)) * 100}%` }}
      title={kind === "lost" ? t("canvas.lostInput", { input: name }) : named ? name : undefined}
    >
      {named && connectable && <span className={styles.portName}>{name}</span>}
    </Handle>
  ));
}

function Outputs({
  step,
  type,
  connectable,
}: {
  step: Step;
  type: StepType;
  connectable: boolean;
}) {
  const kind = useKind(step.id);
  const outputs = outputsOf(step, type);
  useMovedPorts(step.id, outputs.join("\n"));
  if (type.outputs_from === null) {
    return outputs.map((name) => (
      <Handle
        key={name}
        id={name}
        type="source"
        position={Position.Right}
        className={styles.port}
        data-kind={kind}
        data-output={name}
        isConnectable={connectable}
      />
    ));
  }
  return (
    <ul className={styles.branches}>
      {outputs.map((name) => (
        <li key={name} className={styles.branch}>
          {name}
          <Handle
            id={name}
            type="source"
            position={Position.Right}
            className={styles.port}
            data-kind={kind}
            data-output={name}
            isConnectable={connectable}
          />
        </li>
      ))}
    </ul>
  );
}

/** React Flow measures where ports are when a card's size changes; new names may not change it. */
function useMovedPorts(id: string, names: string) {
  const measure = useUpdateNodeInternals();
  const measured = useRef(names);
  useEffect(() => {
    if (measured.current === names) return;
    measured.current = names;
    measure(id);
  }, [measure, id, names]);
}

function useKind(id: string): Kind {
  const { catalogue } = useCanvas();
  const known = useCheck((s) => s.steps);
  return useGraph((graph) => kindOf(graph, catalogue, known, id));
}
