import { getNodesBounds, MiniMap, type ReactFlowState, useStore } from "@xyflow/react";
import { inPane, isCutOff } from "./inView";

// In a lower pane it would cover more steps than it shows.
const LEAST_HEIGHT = 560;

/** The whole drawing small, in a corner, where some of it is out of sight; else it would only hide steps. */
export function Overview() {
  return useStore(isOfUse) ? (
    <MiniMap pannable zoomable style={{ width: 150, height: 92 }} />
  ) : null;
}

function isOfUse({ nodes, nodeLookup, transform, width, height }: ReactFlowState): boolean {
  if (nodes.length === 0 || height < LEAST_HEIGHT) return false;
  const bounds = getNodesBounds(nodes, { nodeLookup });
  return isCutOff(inPane(bounds, transform), { width, height });
}
