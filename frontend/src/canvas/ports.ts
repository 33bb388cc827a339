import type { Edge, Graph, Kind, Step } from "../api/graph";
import type { InputPort, StepType } from "../api/stepTypes";
import { queryInputs } from "./queryInputs";

/** By step: what the newest check knows of what it gives. */
export type KnownKinds = Record<string, { kind: Kind }>;
export type Catalogue = Map<string, StepType>;

/** The names of a step's outputs: its type's, or the branches it is configured with. */
export function outputsOf(step: Step, type: StepType): string[] {
  if (type.outputs_from === null) return type.outputs;
  const listed = step.config[type.outputs_from];
  const names = Array.isArray(listed)
    ? listed.map((item) => (item as { name?: unknown } | null)?.name)
    : [];
  const written = names.filter((name): name is string => typeof name === "string" && name !== "");
  return [...new Set([...written, "otherwise"])];
}

/** A step's inputs: its type's, or the names its query reads, each like the type's only one. */
export function inputsOf(step: Step | undefined, type: StepType | undefined): InputPort[] {
  const [like] = type?.inputs ?? [];
  if (!type?.inputs_from || !like) return type?.inputs ?? [];
  const written = step?.config[type.inputs_from];
  const names = typeof written === "string" ? queryInputs(written) : [];
  return names.length ? names.map((name) => ({ ...like, name })) : type.inputs;
}

/** The output an edge leaves by. */
export function outputOf(edge: Edge): string {
  return edge.output ?? "rows";
}

/** The input an edge ends at, of those a step has: named, or the only one there is. */
export function inputOf(edge: Edge, inputs: InputPort[]): string {
  return edge.port ?? (inputs.length === 1 ? inputs[0]?.name : undefined) ?? "rows";
}

/** An edge between two ports, naming them only where a step has several, or may come to have. */
export function edgeBetween(
  graph: Graph,
  catalogue: Catalogue,
  from: string,
  output: string,
  to: string,
  input: string,
): Edge {
  const type = (id: string) => catalogue.get(graph.steps.find((s) => s.id === id)?.type ?? "");
  return {
    from,
    to,
    ...(type(from)?.outputs_from ? { output } : {}),
    ...(namesInputs(type(to)) ? { port: input } : {}),
  };
}

/** Whether edges to a step of this type say at which input they end. */
export function namesInputs(type: StepType | undefined): boolean {
  return type !== undefined && (type.inputs.length > 1 || type.inputs_from !== null);
}

/**
 * After a step's inputs have changed, edges go on to where they ended: at the input of the same
 * name, or, where as many names are new (or have no edge) as have gone, at the one that took its
 * place. An edge whose input is just gone keeps its name, for the check to complain of and for the
 * name to come back.
 */
export function followInputs(
  graph: Graph,
  id: string,
  before: InputPort[],
  after: InputPort[],
): Graph {
  const was = before.map(({ name }) => name);
  const is = after.map(({ name }) => name);
  if (was.join("\n") === is.join("\n")) return graph;
  const arriving = graph.edges.filter((edge) => edge.to === id);
  const ends = [...new Set(arriving.map((edge) => inputOf(edge, before)))];
  const lost = ends
    .filter((name) => !is.includes(name))
    .sort((a, b) => was.indexOf(a) - was.indexOf(b));
  const free = is.filter((name) => !ends.includes(name));
  const fresh = free.filter((name) => !was.includes(name));
  const took = [fresh, free].find((names) => names.length === lost.length) ?? [];
  const moved = new Map(lost.map((name, i) => [name, took[i] ?? name]));
  return {
    ...graph,
    edges: graph.edges.map((edge) => {
      if (edge.to !== id) return edge;
      const end = inputOf(edge, before);
      return { ...edge, port: moved.get(end) ?? end };
    }),
  };
}

// What a type gives whatever flows in, for the moments before its first check.
const GIVES: Record<string, (step: Step) => Kind> = {
  aggregate: ({ config }) => (config.emit === "final" ? "stream" : "table"),
  kafka_table: () => "table",
  lookup_table: () => "lookup",
  reduce: () => "table",
  sql: () => "stream",
  to_stream: () => "stream",
  to_table: () => "table",
};

/** What flows out of a step: what the check said, else what can be told from its type. */
export function kindOf(graph: Graph, catalogue: Catalogue, known: KnownKinds, id: string): Kind {
  return certainKindOf(graph, catalogue, known, id) ?? "stream";
}

/** The same; null where it depends on what will be drawn to the step. */
export function certainKindOf(
  graph: Graph,
  catalogue: Catalogue,
  known: KnownKinds,
  id: string,
): Kind | null {
  let at: string | undefined = id;
  for (let hops = 0; at !== undefined && hops < 50; hops++) {
    const checked = known[at];
    if (checked) return checked.kind;
    const before: string = at;
    const step: Step | undefined = graph.steps.find((s) => s.id === before);
    const type = catalogue.get(step?.type ?? "");
    if (!step || !type) return "stream";
    const given = givenBy(step, type);
    if (given) return given;
    const inputs = inputsOf(step, type);
    const first = inputs[0]?.name;
    at = graph.edges.find((e) => e.to === before && inputOf(e, inputs) === first)?.from;
  }
  return null;
}

/** What a step gives whatever flows in; null where it gives what it gets. */
export function givenBy(step: Step, type: StepType): Kind | null {
  const certain = GIVES[step.type]?.(step);
  if (certain) return certain;
  const kinds = type.inputs[0]?.kinds ?? ["stream"];
  return (kinds.length === 1 && kinds[0]) || null;
}
