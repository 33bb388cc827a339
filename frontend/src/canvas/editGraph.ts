import {
  type Config,
  type Edge,
  EMPTY_GRAPH,
  type Graph,
  type Position,
  type Step,
} from "../api/graph";
import { layered } from "./layered";

/** Steps with the edges among them and where they stand: what copying puts on the clipboard. */
export interface Fragment {
  headrace: 1;
  steps: Step[];
  edges: Edge[];
  layout: Record<string, Position>;
}

const ID = /^[a-z][a-z0-9_]{0,62}$/;

/** Read a graph as it was saved; steps that nobody placed yet are given places. */
export function readGraph(saved: unknown): Graph {
  const data = (saved ?? {}) as Partial<Graph>;
  const steps = (data.steps ?? []).map((step) => ({ ...step, config: step.config ?? {} }));
  const edges = (data.edges ?? []).map(tidy);
  const canvas = { ...EMPTY_GRAPH.canvas, ...data.canvas };
  const unplaced = steps.some((step) => !canvas.layout[step.id]);
  const layout = unplaced ? { ...layered({ steps, edges }), ...canvas.layout } : canvas.layout;
  return { version: 1, steps, edges, canvas: { ...canvas, layout } };
}

/** What a graph says, without where its steps stand. */
export function meaning(graph: Graph): Omit<Graph, "canvas"> {
  return { version: graph.version, steps: graph.steps, edges: graph.edges };
}

/** Whether a text can be a step's id, apart from being free. */
export function isId(text: string): boolean {
  return ID.test(text);
}

/** The first id like `wanted` that no step of the graph has. */
export function freeId(graph: Pick<Graph, "steps">, wanted: string): string {
  const taken = new Set(graph.steps.map((step) => step.id));
  if (!taken.has(wanted)) return wanted;
  const stem = wanted.replace(/_\d+$/, "").slice(0, 58);
  for (let n = 2; ; n++) if (!taken.has(`${stem}_${n}`)) return `${stem}_${n}`;
}

export function addStep(graph: Graph, step: Step, position: Position, edges: Edge[] = []): Graph {
  return {
    ...graph,
    steps: [...graph.steps, step],
    edges: [...graph.edges, ...edges.map(tidy)],
    canvas: { ...graph.canvas, layout: { ...graph.canvas.layout, [step.id]: rounded(position) } },
  };
}

const APART = 264;

/**
 * Put a new step into an edge: the edge's rows flow through it. What stands behind it moves to the
 * right, where it has to.
 */
export function spliceStep(
  graph: Graph,
  step: Step,
  position: Position,
  edge: Edge,
  ports: { port?: string; output?: string },
): Graph {
  const { layout } = graph.canvas;
  const [before, after] = [layout[edge.from], layout[edge.to]];
  const place = { ...position };
  const moved: Record<string, Position> = {};
  if (before && after && after.x >= before.x) {
    place.x = Math.max(place.x, before.x + APART);
    const by = place.x + APART - after.x;
    for (const id of by > 0 ? downstream(graph, edge.to) : []) {
      const at = layout[id];
      if (at) moved[id] = { x: at.x + by, y: at.y };
    }
  }
  const without = moveSteps(removeEdges(graph, [edge]), moved);
  return addStep(without, step, place, [
    { from: edge.from, output: edge.output, to: step.id, port: ports.port },
    { from: step.id, output: ports.output, to: edge.to, port: edge.port },
  ]);
}

/** A step and all that its rows reach. */
export function downstream(graph: Pick<Graph, "edges">, id: string): Set<string> {
  const found = new Set<string>();
  const todo = [id];
  for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
    if (found.has(at)) continue;
    found.add(at);
    for (const edge of graph.edges) if (edge.from === at) todo.push(edge.to);
  }
  return found;
}

export function addEdge(graph: Graph, edge: Edge): Graph {
  const added = tidy(edge);
  if (graph.edges.some((e) => edgeId(e) === edgeId(added))) return graph;
  return { ...graph, edges: [...graph.edges, added] };
}

export function removeEdges(graph: Graph, edges: Edge[]): Graph {
  const gone = new Set(edges.map(edgeId));
  return { ...graph, edges: graph.edges.filter((edge) => !gone.has(edgeId(edge))) };
}

/**
 * Remove steps with their edges. With `reconnect`, what flowed into a removed step flows to where
 * its rows went.
 */
export function removeSteps(graph: Graph, ids: string[], reconnect = false): Graph {
  let edges = graph.edges;
  for (const id of ids) {
    const into = edges.filter((edge) => edge.to === id);
    const out = edges.filter((edge) => edge.from === id);
    edges = edges.filter((edge) => edge.from !== id && edge.to !== id);
    if (!reconnect) continue;
    const source = into[0];
    if (source === undefined) continue;
    for (const { to, port } of out) {
      edges = [...edges, tidy({ from: source.from, output: source.output, to, port })];
    }
  }
  const gone = new Set(ids);
  const layout = Object.fromEntries(
    Object.entries(graph.canvas.layout).filter(([id]) => !gone.has(id)),
  );
  return {
    ...graph,
    steps: graph.steps.filter((step) => !gone.has(step.id)),
    edges,
    canvas: { ...graph.canvas, layout },
  };
}

export function moveSteps(graph: Graph, positions: Record<string, Position>): Graph {
  const layout = { ...graph.canvas.layout };
  let moved = false;
  for (const [id, position] of Object.entries(positions)) {
    const to = rounded(position);
    if (layout[id]?.x === to.x && layout[id]?.y === to.y) continue;
    layout[id] = to;
    moved = true;
  }
  return moved ? { ...graph, canvas: { ...graph.canvas, layout } } : graph;
}

export function changeConfig(graph: Graph, id: string, config: Config): Graph {
  return changeStep(graph, id, (step) => ({ ...step, config }));
}

export function changeLabel(graph: Graph, id: string, label: string): Graph {
  return changeStep(graph, id, ({ label: _, ...step }) => (label ? { ...step, label } : step));
}

/** Give a step another id, in its edges and its place too. */
export function changeId(graph: Graph, id: string, to: string): Graph {
  const layout = { ...graph.canvas.layout };
  const place = layout[id];
  delete layout[id];
  if (place) layout[to] = place;
  return {
    ...changeStep(graph, id, (step) => ({ ...step, id: to })),
    edges: graph.edges.map((edge) => ({
      ...edge,
      from: edge.from === id ? to : edge.from,
      to: edge.to === id ? to : edge.to,
    })),
    canvas: { ...graph.canvas, layout },
  };
}

/** Edges whose output a step no longer has leave with it. */
export function dropLostOutputs(graph: Graph, id: string, outputs: string[]): Graph {
  const lost = graph.edges.filter(
    (edge) => edge.from === id && edge.output !== undefined && !outputs.includes(edge.output),
  );
  return lost.length ? removeEdges(graph, lost) : graph;
}

export function copySteps(graph: Graph, ids: string[]): Fragment {
  const chosen = new Set(ids);
  const layout: Record<string, Position> = {};
  for (const id of ids) layout[id] = graph.canvas.layout[id] ?? { x: 0, y: 0 };
  return {
    headrace: 1,
    steps: graph.steps.filter((step) => chosen.has(step.id)),
    edges: graph.edges.filter((edge) => chosen.has(edge.from) && chosen.has(edge.to)),
    layout,
  };
}

/** Read a fragment from clipboard text; null for any other text. A whole graph will do, too. */
export function readFragment(text: string): Fragment | null {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof data !== "object" || data === null) return null;
  const whole = "graph" in data ? (data as { graph: unknown }).graph : data;
  if (typeof whole !== "object" || whole === null || !("steps" in whole)) return null;
  const { steps, edges } = whole as { steps: unknown; edges?: unknown };
  if (!Array.isArray(steps) || !steps.every(isStep)) return null;
  const graph = readGraph({ ...whole, edges: Array.isArray(edges) ? edges : [] });
  const layout = (whole as Partial<Fragment>).layout ?? graph.canvas.layout;
  return { headrace: 1, steps: graph.steps, edges: graph.edges, layout };
}

/** Put a fragment into the graph, moved by `by`, under free ids. Answers the new ids, too. */
export function pasteSteps(
  graph: Graph,
  fragment: Fragment,
  by: Position,
): { graph: Graph; ids: string[] } {
  const names = new Map<string, string>();
  let next = graph;
  for (const step of fragment.steps) {
    const id = freeId(next, step.id);
    names.set(step.id, id);
    const place = fragment.layout[step.id] ?? { x: 0, y: 0 };
    next = addStep(next, { ...step, id }, { x: place.x + by.x, y: place.y + by.y });
  }
  for (const edge of fragment.edges) {
    const [from, to] = [names.get(edge.from), names.get(edge.to)];
    if (from && to) next = addEdge(next, { ...edge, from, to });
  }
  return { graph: next, ids: [...names.values()] };
}

/** What tells one edge from another. */
export function edgeId(edge: Edge): string {
  return `${edge.from}|${edge.output ?? ""}|${edge.to}|${edge.port ?? ""}`;
}

function changeStep(graph: Graph, id: string, change: (step: Step) => Step): Graph {
  return { ...graph, steps: graph.steps.map((step) => (step.id === id ? change(step) : step)) };
}

function tidy({ from, to, output, port }: Edge): Edge {
  return { from, to, ...(output ? { output } : {}), ...(port ? { port } : {}) };
}

function rounded({ x, y }: Position): Position {
  return { x: Math.round(x), y: Math.round(y) };
}

function isStep(value: unknown): value is Step {
  const step = value as Partial<Step> | null;
  return typeof step?.id === "string" && typeof step.type === "string";
}
