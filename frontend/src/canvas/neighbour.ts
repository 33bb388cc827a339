import type { Graph } from "../api/graph";

/** The step that an arrow key leads to: along the edges sideways, by place up and down. */
export function neighbour(
  graph: Graph,
  id: string,
  way: "left" | "right" | "up" | "down",
): string | undefined {
  const { layout } = graph.canvas;
  const here = layout[id] ?? { x: 0, y: 0 };
  const far = (other: string) => {
    const { x, y } = layout[other] ?? here;
    return Math.hypot(x - here.x, y - here.y);
  };
  const nearest = (ids: string[]) => ids.sort((a, b) => far(a) - far(b))[0];
  if (way === "right") return nearest(graph.edges.filter((e) => e.from === id).map((e) => e.to));
  if (way === "left") return nearest(graph.edges.filter((e) => e.to === id).map((e) => e.from));
  return nearest(
    graph.steps
      .map((step) => step.id)
      .filter((other) => {
        const y = layout[other]?.y ?? here.y;
        return way === "up" ? y < here.y : y > here.y;
      }),
  );
}
