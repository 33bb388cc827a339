import { useConnection, useReactFlow } from "@xyflow/react";
import { useTranslation } from "react-i18next";
import styles from "./Canvas.module.css";
import { useCanvas } from "./CanvasContext";
import { type Drawn, whyNot } from "./connectionRules";
import { useGraphStore } from "./graphStore";

const WIDEST = 300;

/** While an edge is dragged over a port that it may not end at: why not. */
export function RefusalNotice({ frame }: { frame: React.RefObject<HTMLElement | null> }) {
  const { t } = useTranslation();
  const { catalogue, check } = useCanvas();
  const store = useGraphStore();
  const { flowToScreenPosition } = useReactFlow();
  const connection = useConnection();
  const { fromHandle, toHandle } = connection;
  if (!connection.inProgress || !fromHandle || !toHandle) return <div role="status" />;

  const drawn = drawnBetween(
    { node: fromHandle.nodeId, port: fromHandle.id, type: fromHandle.type },
    { node: toHandle.nodeId, port: toHandle.id, type: toHandle.type },
  );
  const refusal = drawn && whyNot(store.graph(), catalogue, check.getState().steps, drawn);
  const box = frame.current?.getBoundingClientRect();
  if (!refusal || !box) return <div role="status" />;
  // The connection's end is in pixels of the pane, not of the flow, while it is being dragged.
  const at = flowToScreenPosition({ x: toHandle.x, y: toHandle.y });
  return (
    <div
      role="status"
      className={styles.notice}
      data-testid="refusal"
      style={{
        left: Math.min(at.x - box.left + 18, box.width - WIDEST),
        top: at.y - box.top + 18,
        maxWidth: WIDEST,
      }}
    >
      {t(`refusal.${refusal.key}`, refusal.values)}
    </div>
  );
}

interface End {
  node: string;
  port: string | null | undefined;
  type: "source" | "target";
}

/** The ports an edge would join, whichever end it was begun at; null between two of one sort. */
export function drawnBetween(begun: End, ended: End): Drawn | null {
  const [source, target] = begun.type === "source" ? [begun, ended] : [ended, begun];
  if (source.type !== "source" || target.type !== "target") return null;
  return {
    from: source.node,
    output: source.port ?? "rows",
    to: target.node,
    input: target.port ?? "rows",
  };
}
