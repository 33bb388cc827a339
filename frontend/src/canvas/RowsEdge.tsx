import { EdgeLabelRenderer, type EdgeProps, getBezierPath } from "@xyflow/react";
import { memo } from "react";
import { useTranslation } from "react-i18next";
import { rate } from "../text/count";
import { useAimedEdge } from "./aim";
import { useCanvas, useCheck, useLive } from "./CanvasContext";
import type { StepEdge } from "./flow";
import { useGraph } from "./graphStore";
import { kindOf } from "./ports";
import styles from "./RowsEdge.module.css";

/** Rows on their way: one line for a stream, two for a table, dots for a lookup. */
export const RowsEdge = memo(function RowsEdge(props: EdgeProps<StepEdge>) {
  const { t } = useTranslation();
  const { catalogue } = useCanvas();
  const known = useCheck((s) => s.steps);
  const key = useCheck((s) => s.steps[props.source]?.key.join(", "));
  const kind = useGraph((graph) => kindOf(graph, catalogue, known, props.source));
  const aimed = useAimedEdge() === props.id;
  const perSecond = useLive((s) => (s.on ? s.steps[props.source]?.rate : undefined));
  const [path, x, y] = getBezierPath(props);
  return (
    <>
      <g className={styles.edge} data-kind={kind} data-selected={props.selected} data-aimed={aimed}>
        <title>{t(`edge.${kind}`, { key: key ? ` (${key})` : "" })}</title>
        <path d={path} className={styles.line} />
        {kind === "table" && <path d={path} className={styles.inner} />}
        <path
          d={path}
          fill="none"
          strokeOpacity={0}
          strokeWidth={26}
          className="react-flow__edge-interaction"
        />
      </g>
      {perSecond !== undefined && perSecond > 0 && (
        <EdgeLabelRenderer>
          <div
            className={styles.rate}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y - 11}px)` }}
          >
            {rate(perSecond)}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
});
