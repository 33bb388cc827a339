import { Tooltip } from "@mantine/core";
import { IconBolt, IconStack2 } from "@tabler/icons-react";
import { ViewportPortal } from "@xyflow/react";
import { useTranslation } from "react-i18next";
import type { CheckedStep, Mode } from "../api/types";
import { span } from "../text/span";
import { useCheck, useLive } from "./CanvasContext";
import type { StepNode } from "./flow";
import styles from "./SegmentOutlines.module.css";
import { forSegment } from "./waiting";

const SIDE = 14;
const TOP = 24;

interface Outline {
  id: string;
  mode: Mode;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** A line around the steps of each segment, with its mode; why on hover. */
export function SegmentOutlines({ nodes }: { nodes: StepNode[] }) {
  const { t } = useTranslation();
  const steps = useCheck((s) => s.steps);
  const segments = useCheck((s) => s.segments);
  const waiting = useLive((s) => s.waiting);
  return (
    <ViewportPortal>
      {outlines(nodes, steps).map(({ id, mode, left, top, right, bottom }) => {
        const reason = segments.find((segment) => segment.id === id)?.reason;
        const Icon = mode === "real_time" ? IconBolt : IconStack2;
        return (
          <div
            key={id}
            className={styles.outline}
            data-mode={mode}
            data-segment={id}
            data-waits={waiting[forSegment(id)] !== undefined}
            style={{ left, top, width: right - left, height: bottom - top }}
          >
            <Tooltip label={reason} disabled={!reason}>
              <span className={styles.label}>
                <Icon size={13} stroke={2} aria-hidden />
                {t(`mode.${mode}`)}
                {reason && <span className="visually-hidden">{reason}</span>}
                <Latency segment={id} />
              </span>
            </Tooltip>
          </div>
        );
      })}
    </ViewportPortal>
  );
}

/** How fast a segment is. */
function Latency({ segment }: { segment: string }) {
  const { t } = useTranslation();
  const latency = useLive((s) => s.latency[segment]);
  if (latency === undefined) return null;
  return (
    <span className={styles.live} title={t("canvas.latency")} data-latency={latency}>
      {span(latency)}
    </span>
  );
}

/** The box around each segment's steps; none where a step's segment is not known. */
export function outlines(nodes: StepNode[], steps: Record<string, CheckedStep>): Outline[] {
  const found = new Map<string, Outline>();
  for (const { id, position, measured } of nodes) {
    const { segment, mode } = steps[id] ?? {};
    if (!segment || !mode || !measured?.width || !measured.height) continue;
    const left = position.x - SIDE;
    const top = position.y - TOP;
    const right = position.x + measured.width + SIDE;
    const bottom = position.y + measured.height + SIDE;
    const was = found.get(segment);
    found.set(segment, {
      id: segment,
      mode,
      left: Math.min(left, was?.left ?? left),
      top: Math.min(top, was?.top ?? top),
      right: Math.max(right, was?.right ?? right),
      bottom: Math.max(bottom, was?.bottom ?? bottom),
    });
  }
  return [...found.values()];
}
