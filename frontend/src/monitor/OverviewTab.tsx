import { Select, Skeleton } from "@mantine/core";
import { type KeyboardEvent, useCallback, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "react-router";
import type { Deployment } from "../api/types";
import { useCanvas, useSelection } from "../canvas/CanvasContext";
import type { Catalogue } from "../canvas/ports";
import { select } from "../canvas/selectionStore";
import { short } from "../text/count";
import { ChooseRange } from "./ChooseRange";
import { MetricChart } from "./MetricChart";
import styles from "./OverviewTab.module.css";
import { isLive, type Range, readRange, writeRange } from "./range";
import { SegmentNow } from "./SegmentNow";
import { chartsOf, type Scope, seconds } from "./series";
import { useMetricHistory } from "./useMetricHistory";

const ALL = "";
const STEPS_OF_CURSOR = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 } as const;

interface Props {
  deployment: Deployment;
  catalogue: Catalogue;
}

/** What a deployment does over time, in charts along one time axis, and what it says of itself now. */
export function OverviewTab({ deployment, catalogue }: Props) {
  const { t } = useTranslation();
  const [asked, setAsked] = useSearchParams();
  const said = asked.get("range");
  const range = useMemo(() => readRange(said), [said]);
  const history = useMetricHistory(deployment, range);
  const [step, chooseStep] = useChosenStep();
  const { graph } = deployment;
  const scope = useMemo(() => scopeOf(step, deployment), [step, deployment]);
  const shown = deployment.segments.filter(({ id }) => scope.segments?.includes(id) ?? true);

  const setRange = useCallback(
    (next: Range) =>
      setAsked(
        (now) => {
          const written = writeRange(next);
          if (written === null) now.delete("range");
          else now.set("range", written);
          return now;
        },
        { replace: true },
      ),
    [setAsked],
  );

  return (
    <div className={styles.overview}>
      <div className={styles.tools}>
        <ChooseRange range={range} from={history.from} to={history.to} onRange={setRange} />
        <Select
          w={220}
          aria-label={t("overview.of")}
          allowDeselect={false}
          data={[
            { value: ALL, label: t("overview.all") },
            ...graph.steps.map(({ id, type, label }) => ({
              value: id,
              label: label || catalogue.get(type)?.title || id,
            })),
          ]}
          value={step ?? ALL}
          onChange={(value) => chooseStep(value || null)}
        />
      </div>
      {history.error && <p role="alert">{history.error.message}</p>}
      {history.isPending && <Skeleton h={140} />}
      {!history.isPending && (
        <Charts history={history} scope={scope} range={range} onRange={setRange} />
      )}
      <div className={styles.segments}>
        {shown.map((segment) => (
          <SegmentNow
            key={segment.id}
            segment={segment}
            now={deployment.metrics?.segments[segment.id]}
          />
        ))}
        <section className={styles.segment}>
          <h3>{t("overview.disk")}</h3>
          <dl className={styles.numbers}>
            {(["checkpoints", "runs"] as const).map((name) => (
              <div key={name}>
                <dt>{t(`overview.${name}`)}</dt>
                <dd>{t("overview.bytes", { size: short(deployment.disk[name]) })}</dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
    </div>
  );
}

/** The one step that is selected on the canvas, and the way to select another. */
function useChosenStep(): [string | null, (step: string | null) => void] {
  const { selection } = useCanvas();
  const steps = useSelection((s) => s.steps);
  const chosen = steps.length === 1 ? (steps[0] ?? null) : null;
  return [chosen, (step) => select(selection, step === null ? [] : [step])];
}

function scopeOf(step: string | null, { segments }: Deployment): Scope {
  if (step === null) return { step: null, segments: null };
  return { step, segments: segments.filter((s) => s.steps.includes(step)).map(({ id }) => id) };
}

interface ChartsProps {
  history: ReturnType<typeof useMetricHistory>;
  scope: Scope;
  range: Range;
  onRange: (range: Range) => void;
}

function Charts({ history, scope, range, onRange }: ChartsProps) {
  const { t } = useTranslation();
  const { points, from, to } = history;
  const [looked, setLooked] = useState<number | null>(null);
  const charts = useMemo(() => chartsOf(points, scope), [points, scope]);
  const times = useMemo(() => ({ at: points.map(seconds), from, to }), [points, from, to]);
  const select = useCallback(
    (begin: number, end: number) => onRange({ from: begin, to: end }),
    [onRange],
  );
  const { at } = times;
  const onCursor = useCallback(
    (index: number | null) => setLooked(index === null ? null : (at[index] ?? null)),
    [at],
  );
  const cursor = looked === null ? null : nearest(at, looked);
  const live = isLive(range);
  const over = live ? t(`over.${range}`) : t("over.own");

  function walk(event: KeyboardEvent) {
    if (event.key === "Escape") setLooked(null);
    const by = STEPS_OF_CURSOR[event.key as keyof typeof STEPS_OF_CURSOR];
    if (by === undefined || at.length === 0) return;
    event.preventDefault();
    const next = (cursor ?? at.length) + by;
    setLooked(at[Math.min(Math.max(next, 0), at.length - 1)] ?? null);
  }

  return (
    <section
      className={styles.charts}
      aria-label={t("overview.charts")}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: so that the arrow keys reach it
      tabIndex={0}
      onKeyDown={walk}
      onBlur={() => setLooked(null)}
    >
      <p className={styles.looked} aria-live="off">
        {cursor === null
          ? over
          : new Date((at[cursor] as number) * 1000).toLocaleString("en-GB", {
              dateStyle: "medium",
              timeStyle: "medium",
            })}
      </p>
      {charts.map((chart) => (
        <MetricChart
          key={chart.id}
          chart={chart}
          times={times}
          over={over}
          live={live}
          cursor={cursor}
          onCursor={onCursor}
          onSelect={select}
        />
      ))}
    </section>
  );
}

/** The place of the moment that is nearest; moments only go forward. */
function nearest(at: number[], moment: number): number | null {
  if (at.length === 0) return null;
  let best = 0;
  for (const [i, one] of at.entries())
    if (Math.abs(one - moment) < Math.abs((at[best] as number) - moment)) best = i;
  return best;
}
