import type { Edge as FlowEdge, Node } from "@xyflow/react";
import type { Edge, Graph, Position, Step } from "../api/graph";
import { edgeId } from "./editGraph";
import { type Catalogue, inputOf, inputsOf, outputOf } from "./ports";

export type StepNode = Node<{ step: Step }, "step">;
export type StepEdge = FlowEdge<{ edge: Edge }, "rows">;

const ORIGIN = { x: 0, y: 0 };

/**
 * The steps as React Flow draws them. A node whose step and place did not change is the same
 * object as before, with what React Flow measured and selected, so that only what changed is drawn.
 */
export function toNodes(graph: Graph, before: StepNode[], selected?: Set<string>): StepNode[] {
  const old = new Map(before.map((node) => [node.id, node]));
  return graph.steps.map((step) => {
    const position = graph.canvas.layout[step.id] ?? ORIGIN;
    const was = old.get(step.id);
    const chosen = selected ? selected.has(step.id) : (was?.selected ?? false);
    if (
      was &&
      was.data.step === step &&
      was.position.x === position.x &&
      was.position.y === position.y &&
      (was.selected ?? false) === chosen
    )
      return was;
    return { ...was, id: step.id, type: "step", position, selected: chosen, data: { step } };
  });
}

export function toEdges(graph: Graph, catalogue: Catalogue, before: StepEdge[]): StepEdge[] {
  const inputs = new Map(
    graph.steps.map((step) => [step.id, inputsOf(step, catalogue.get(step.type))]),
  );
  const old = new Map(before.map((edge) => [edge.id, edge]));
  return graph.edges.map((edge) => {
    const id = edgeId(edge);
    const sourceHandle = outputOf(edge);
    const targetHandle = inputOf(edge, inputs.get(edge.to) ?? []);
    const was = old.get(id);
    if (was?.data?.edge === edge && was.targetHandle === targetHandle) return was;
    return {
      id,
      type: "rows",
      source: edge.from,
      target: edge.to,
      sourceHandle,
      targetHandle,
      selected: was?.selected ?? false,
      data: { edge },
    };
  });
}

/** Where nodes stand, by step. */
export function placesOf(nodes: Pick<StepNode, "id" | "position">[]): Record<string, Position> {
  return Object.fromEntries(nodes.map((node) => [node.id, node.position]));
}
