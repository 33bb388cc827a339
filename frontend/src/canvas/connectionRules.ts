import type { Graph } from "../api/graph";
import type { StepType } from "../api/stepTypes";
import { downstream } from "./editGraph";
import {
  type Catalogue,
  certainKindOf,
  inputOf,
  inputsOf,
  type KnownKinds,
  outputsOf,
} from "./ports";

/** Ports an edge may be drawn between. */
export interface Drawn {
  from: string;
  output: string;
  to: string;
  input: string;
}

/** Why an edge may not be, as a key and the values of its sentence. */
export interface Refusal {
  key: "self" | "circle" | "occupied" | "kind" | "twice" | "noInput" | "noOutput";
  values: { from: string; to: string; input?: string; kind?: string; kinds?: string };
}

/** Say why these ports may not be joined; null where they may. */
export function whyNot(
  graph: Graph,
  catalogue: Catalogue,
  known: KnownKinds,
  { from, output, to, input }: Drawn,
): Refusal | null {
  const source = graph.steps.find((step) => step.id === from);
  const target = graph.steps.find((step) => step.id === to);
  const sourceType = catalogue.get(source?.type ?? "");
  const targetType = catalogue.get(target?.type ?? "");
  if (!source || !target || !sourceType || !targetType) return null;
  const names = { from: source.label || sourceType.title, to: target.label || targetType.title };
  if (from === to) return { key: "self", values: names };
  if (!outputsOf(source, sourceType).includes(output)) return { key: "noOutput", values: names };
  const inputs = inputsOf(target, targetType);
  const port = inputs.find(({ name }) => name === input);
  if (!port) return { key: "noInput", values: { ...names, input } };
  if (downstream(graph, to).has(from)) return { key: "circle", values: names };
  const arriving = graph.edges.filter((e) => e.to === to && inputOf(e, inputs) === input);
  if (arriving.some((e) => e.from === from && (e.output ?? "rows") === output))
    return { key: "twice", values: names };
  const kind = certainKindOf(graph, catalogue, known, from);
  if (kind !== null && !port.kinds.includes(kind))
    return { key: "kind", values: { ...names, kind, kinds: port.kinds.join(" or a ") } };
  if (arriving.length > 0 && !port.many)
    return { key: "occupied", values: { ...names, input: port.name } };
  return null;
}

/** The first free input of a step type that takes rows of this kind; undefined where none does. */
export function inputFor(type: StepType, kind: string): string | undefined {
  return type.inputs.find((port) => port.kinds.some((k) => k === kind))?.name;
}
