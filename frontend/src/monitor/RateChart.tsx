import { useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import uPlot from "uplot";
import { rate, short } from "../text/count";
import styles from "./DeploymentPage.module.css";
import { type Point, summarize } from "./points";
import "uplot/dist/uPlot.min.css";

const HEIGHT = 172;

/** Rows per second over time, with what the line says in words. */
export function RateChart({ points }: { points: Point[] }) {
  const { t } = useTranslation();
  const scheme = useComputedColorScheme("light");
  const { ref: frame, width } = useElementSize();
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const label = t("chart.rows");
  const says = summarize(points);

  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are read anew when the scheme changes
  useEffect(() => {
    if (!place.current) return;
    const made = new uPlot(options(label), [[], []], place.current);
    chart.current = made;
    return () => {
      made.destroy();
      chart.current = null;
    };
  }, [label, scheme]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a chart made anew has to be filled again
  useEffect(() => {
    if (width > 0) chart.current?.setSize({ width, height: HEIGHT });
    chart.current?.setData([points.map((p) => p.at), points.map((p) => p.rate)]);
  }, [points, width, scheme, label]);

  return (
    <figure ref={frame} style={{ margin: 0, minWidth: 0 }}>
      <figcaption className={styles.heading}>
        {label}
        <span
          style={{ fontWeight: 400, color: "var(--hr-soft)", marginLeft: 10 }}
          data-testid="rate-summary"
        >
          {says
            ? t("chart.says", { now: rate(says.now), peak: rate(says.peak), mean: rate(says.mean) })
            : t("chart.nothing")}
        </span>
      </figcaption>
      <div ref={place} aria-hidden="true" />
    </figure>
  );
}

function options(label: string): uPlot.Options {
  const style = getComputedStyle(document.body);
  const color = (name: string) => resolved(style.getPropertyValue(name));
  const axis = {
    stroke: color("--hr-faint"),
    font: "11px 'Inter Variable', system-ui",
    grid: { stroke: color("--hr-line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: 400,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false },
    scales: { y: { range: (_, __, max) => [0, Math.max(max * 1.1, 1)] } },
    axes: [
      { ...axis, values: "{HH}:{mm}:{ss}", space: 90 },
      { ...axis, size: 46, values: (_, ticks) => ticks.map(short) },
    ],
    series: [
      {},
      {
        label,
        stroke: color("--hr-accent"),
        width: 1.6,
        fill: `color-mix(in srgb, ${color("--hr-accent")} 12%, transparent)`,
        points: { show: false },
      },
    ],
  };
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
