import type { Graph, Position } from "../api/graph";
import type { StepNode } from "./flow";

const CARD = { width: 208, height: 74 };
const OPTIONS = {
  "elk.algorithm": "layered",
  "elk.direction": "RIGHT",
  "elk.spacing.nodeNode": "48",
  "elk.layered.spacing.nodeNodeBetweenLayers": "72",
  "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
  "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
};

/** Find a tidy place for every step. Loads the layout engine, and runs it beside the page. */
export async function autoLayout(
  graph: Graph,
  nodes: StepNode[],
): Promise<Record<string, Position>> {
  const [{ default: ELK }, { default: workerUrl }] = await Promise.all([
    import("elkjs/lib/elk-api.js"),
    import("elkjs/lib/elk-worker.min.js?url"),
  ]);
  const elk = new ELK({ workerFactory: () => new Worker(workerUrl) });
  const sizes = new Map(nodes.map((node) => [node.id, node.measured]));
  try {
    const done = await elk.layout({
      id: "graph",
      layoutOptions: OPTIONS,
      children: graph.steps.map(({ id }) => ({
        id,
        width: sizes.get(id)?.width ?? CARD.width,
        height: sizes.get(id)?.height ?? CARD.height,
      })),
      edges: graph.edges.map(({ from, to }, i) => ({
        id: String(i),
        sources: [from],
        targets: [to],
      })),
    });
    return Object.fromEntries(
      (done.children ?? []).map(({ id, x, y }) => [id, { x: x ?? 0, y: y ?? 0 }]),
    );
  } finally {
    elk.terminateWorker();
  }
}
