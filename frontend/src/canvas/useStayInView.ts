import { useReactFlow, useStore } from "@xyflow/react";
import { useEffect, useRef } from "react";
import type { StepEdge, StepNode } from "./flow";
import { inPane, shiftInto } from "./inView";

const MARGIN = 24;

/** Keeps the chosen steps, or else the drawing, in sight when a panel takes room from the canvas. */
export function useStayInView(chosen: string[]) {
  const flow = useReactFlow<StepNode, StepEdge>();
  const width = useStore((s) => s.width);
  const height = useStore((s) => s.height);
  const seen = useRef({ width, height });
  const newest = useRef(chosen);
  newest.current = chosen;

  useEffect(() => {
    const before = seen.current;
    seen.current = { width, height };
    if (width >= before.width && height >= before.height) return;
    const nodes = flow.getNodes();
    const asked = nodes.filter((node) => newest.current.includes(node.id));
    const { x, y, zoom } = flow.getViewport();
    const box = inPane(flow.getNodesBounds(asked.length > 0 ? asked : nodes), [x, y, zoom]);
    const shift = shiftInto(box, { width, height }, MARGIN);
    if (shift.x || shift.y)
      flow.setViewport({ x: x + shift.x, y: y + shift.y, zoom }, { duration: 150 });
  }, [flow, width, height]);
}
