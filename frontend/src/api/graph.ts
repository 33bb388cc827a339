/** A graph as it is saved: steps, edges, and beside them how they stand on the canvas. */
export interface Graph {
  version: 1;
  steps: Step[];
  edges: Edge[];
  canvas: CanvasPart;
}

export interface Step {
  id: string;
  type: string;
  label?: string;
  config: Config;
}

export type Config = Record<string, unknown>;

/** Rows flow from a step to another. `output` and `port` stand only where a step has several. */
export interface Edge {
  from: string;
  to: string;
  output?: string;
  port?: string;
}

export interface CanvasPart {
  layout: Record<string, Position>;
  notes: unknown[];
  groups: unknown[];
}

export interface Position {
  x: number;
  y: number;
}

export type Kind = "stream" | "table" | "lookup";

export const EMPTY_GRAPH: Graph = {
  version: 1,
  steps: [],
  edges: [],
  canvas: { layout: {}, notes: [], groups: [] },
};
