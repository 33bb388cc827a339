import { useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { memo, useEffect, useId, useRef } from "react";
import { useTranslation } from "react-i18next";
import uPlot from "uplot";
import styles from "./MetricChart.module.css";
import { type Chart, summarize, UNITS } from "./series";
import "uplot/dist/uPlot.min.css";

const HEIGHT = 104;
const LEAST_SELECTED_PX = 8;
const LEFT_PX = 52;
// Of rows there are no halves.
const LEAST_TOP: Partial<Record<Chart["unit"], number>> = { rows: 4 };

export interface Times {
  /** The moments of all values, in seconds since 1970. */
  at: number[];
  /** Where the time axis begins and ends. */
  from: number;
  to: number;
}

interface Props {
  chart: Chart;
  times: Times;
  /** The range in words: `over the last hour`. */
  over: string;
  /** Whether the newest values are those of now. */
  live: boolean;
  /** Which moment is looked at, as its place in `at`; shared by all charts of a page. */
  cursor: number | null;
  onCursor: (index: number | null) => void;
  /** A part of the time axis was chosen with the mouse. */
  onSelect: (from: number, to: number) => void;
}

/** Some lines over time, with what they say in words. */
export const MetricChart = memo(function MetricChart(props: Props) {
  const { chart, times, over, live, cursor } = props;
  const { t } = useTranslation();
  const scheme = useComputedColorScheme("light");
  const { ref: frame, width } = useElementSize();
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const heading = useId();
  const { unit } = chart;
  const count = chart.lines.length;

  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are read anew when the scheme changes
  useEffect(() => {
    if (!place.current) return;
    const made = new uPlot(options(latest, unit, count), [[]], place.current);
    drawn.current = made;
    return () => {
      made.destroy();
      drawn.current = null;
    };
  }, [unit, count, scheme]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a chart made anew has to be filled again
  useEffect(() => {
    if (width > 0) drawn.current?.setSize({ width, height: HEIGHT });
  }, [width, unit, count, scheme]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a chart made anew has to be filled again
  useEffect(() => {
    drawn.current?.setData([times.at, ...chart.lines.map(({ values }) => values)]);
  }, [chart, times, unit, count, scheme]);

  useEffect(() => {
    const plot = drawn.current;
    const at = cursor === null ? undefined : times.at[cursor];
    // Outside of itself it shows none.
    const left = at === undefined ? -10 : (plot?.valToPos(at, "x") ?? -10);
    if (plot && plot.cursor.left !== left) plot.setCursor({ left, top: 0 }, false);
  }, [cursor, times]);

  return (
    <figure ref={frame} className={styles.chart} data-chart={chart.id} aria-labelledby={heading}>
      <figcaption className={styles.caption} id={heading}>
        <strong>{t(`chart.${chart.id}`)}</strong>
        {chart.lines.map((line, n) => {
          const say = UNITS[unit];
          const says = summarize(times.at, line.values, times.to);
          const looked = cursor === null ? undefined : line.values[cursor];
          return (
            <span
              key={line.id}
              className={styles.line}
              data-line={line.id}
              data-several={count > 1}
            >
              {count > 1 && (
                <>
                  <svg className={styles.swatch} data-n={n} viewBox="0 0 16 4" aria-hidden="true">
                    <line x1="0" y1="2" x2="16" y2="2" />
                  </svg>
                  {t(`chart.lines.${line.id}`)}{" "}
                </>
              )}
              {cursor !== null ? (
                <b>{looked === null || looked === undefined ? "–" : say(looked)}</b>
              ) : says ? (
                <>
                  {t(live ? "chart.now" : "chart.last")} <b>{say(says.now)}</b>,{" "}
                  {t("chart.highest", { value: say(says.peak) })}
                  {count === 1 && <>, {t("chart.mean", { value: say(says.mean) })}</>}
                </>
              ) : (
                t("chart.nothing")
              )}
            </span>
          );
        })}
        <span className="visually-hidden">{over}</span>
      </figcaption>
      <div ref={place} className={styles.place} aria-hidden="true" />
    </figure>
  );
});

type Latest = { readonly current: Props };

function options(latest: Latest, unit: Chart["unit"], count: number): uPlot.Options {
  const style = getComputedStyle(document.body);
  const color = (name: string) => resolved(style.getPropertyValue(name));
  const axis = {
    stroke: color("--hr-faint"),
    font: "11px 'Inter Variable', system-ui",
    grid: { stroke: color("--hr-line"), width: 1 },
    ticks: { show: false },
  };
  const accent = color("--hr-accent");
  const lines = [
    {
      stroke: accent,
      width: 1.6,
      fill: count === 1 ? `color-mix(in srgb, ${accent} 12%, transparent)` : undefined,
    },
    { stroke: color("--hr-state"), width: 1.4, dash: [5, 3] },
  ];
  return {
    width: 300,
    height: HEIGHT,
    padding: [6, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
    scales: {
      x: { range: () => [latest.current.times.from, latest.current.times.to] },
      y: { range: (_, __, max) => [0, Math.max((max ?? 0) * 1.1, LEAST_TOP[unit] ?? 1)] },
    },
    axes: [
      {
        ...axis,
        size: 24,
        space: 80,
        values: (_, ticks, __, ___, apart) => ticks.map((tick) => moment(tick, apart)),
      },
      { ...axis, size: LEFT_PX, space: 28, values: (_, ticks) => ticks.map(UNITS[unit]) },
    ],
    series: [{}, ...lines.slice(0, count).map((line) => ({ ...line, points: { show: false } }))],
    hooks: {
      setCursor: [({ cursor }) => latest.current.onCursor(cursor.idx ?? null)],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width < LEAST_SELECTED_PX) return;
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          latest.current.onSelect(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
        },
      ],
    },
  };
}

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const MINUTE = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const SECOND = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});

/** A tick of the time axis: as exact as ticks are apart, in seconds; midnight is its day. */
function moment(at: number, apart: number): string {
  const date = new Date(at * 1000);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0;
  if (apart >= 86_400 || isMidnight) return DAY.format(date);
  return (apart >= 60 ? MINUTE : SECOND).format(date);
}

/** A colour as a canvas takes it: custom properties may hold `light-dark()`, which it doesn't know. */
function resolved(value: string): string {
  const probe = document.createElement("span");
  probe.style.color = value;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}
