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
import { WaitingRows } from "./WaitingRows";
import { onEdge } from "./waiting";

/** Rows on their way: one line for a stream, two for a table, dots for a lookup. */
export const RowsEdge = memo(function RowsEdge(props: EdgeProps<StepEdge>) {
  const { t } = useTranslation();
  const { catalogue } = useCanvas();
  const known = useCheck((s) => s.steps);
  const key = useCheck((s) => s.steps[props.source]?.key.join(", "));
  const kind = useGraph((graph) => kindOf(graph, catalogue, known, props.source));
  const aimed = useAimedEdge() === props.id;
  // Of a step with several outputs it is only known how many rows it gave in all.
  const isBranch = props.data?.edge.output !== undefined;
  const perSecond = useLive((s) => (s.on && !isBranch ? s.steps[props.source]?.rate : undefined));
  const place = onEdge(props.source, props.target);
  const waits = useLive((s) => s.waiting[place] !== undefined);
  const [path, x, y] = getBezierPath(props);
  return (
    <>
      <g
        className={styles.edge}
        data-kind={kind}
        data-selected={props.selected}
        data-aimed={aimed}
        data-waits={waits}
      >
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
      {(waits || (perSecond !== undefined && perSecond > 0)) && (
        <EdgeLabelRenderer>
          <div
            className={styles.rate}
            data-edge-rate={props.id}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y - 11}px)` }}
          >
            {perSecond !== undefined && perSecond > 0 && rate(perSecond)}
            <WaitingRows at={place} />
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
});
