import type { Graph, Position } from "../api/graph";

export const ACROSS = 280;
export const DOWN = 130;

/** A place for each step: sources left, each step right of all it reads from. Takes circles, too. */
export function layered(graph: Pick<Graph, "steps" | "edges">): Record<string, Position> {
  const column = new Map<string, number>(graph.steps.map((step) => [step.id, 0]));
  for (let round = 0; round < graph.steps.length; round++) {
    let changed = false;
    for (const { from, to } of graph.edges) {
      const [before, after] = [column.get(from), column.get(to)];
      if (before === undefined || after === undefined || after > before) continue;
      if (before + 1 >= graph.steps.length) continue;
      column.set(to, before + 1);
      changed = true;
    }
    if (!changed) break;
  }
  const filled = new Map<number, number>();
  const places: Record<string, Position> = {};
  for (const { id } of graph.steps) {
    const at = column.get(id) ?? 0;
    const row = filled.get(at) ?? 0;
    filled.set(at, row + 1);
    places[id] = { x: at * ACROSS, y: row * DOWN };
  }
  return places;
}
