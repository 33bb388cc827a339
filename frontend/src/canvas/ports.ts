import type { Edge, Graph, Kind, Step } from "../api/graph";
import type { StepType } from "../api/stepTypes";

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

/** The output an edge leaves by. */
export function outputOf(edge: Edge): string {
  return edge.output ?? "rows";
}

/** The input an edge ends at: named, or the only one there is. */
export function inputOf(edge: Edge, type: StepType | undefined): string {
  return edge.port ?? (type?.inputs.length === 1 ? type.inputs[0]?.name : undefined) ?? "rows";
}

/** An edge between two ports, naming them only where a step has several. */
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
    ...((type(to)?.inputs.length ?? 0) > 1 ? { port: input } : {}),
  };
}

// What a type gives whatever flows in, for the moments before its first check.
const GIVES: Record<string, Kind> = {
  aggregate: "table",
  kafka_table: "table",
  lookup_table: "lookup",
  reduce: "table",
  to_stream: "stream",
  to_table: "table",
};

/** What flows out of a step: what the check said, else what can be told from its type. */
export function kindOf(graph: Graph, catalogue: Catalogue, known: KnownKinds, id: string): Kind {
  for (let at: string | undefined = id, hops = 0; at !== undefined && hops < 50; hops++) {
    const checked = known[at];
    if (checked) return checked.kind;
    const step: Step | undefined = graph.steps.find((s) => s.id === at);
    const certain = GIVES[step?.type ?? ""];
    if (certain) return certain;
    const type = catalogue.get(step?.type ?? "");
    const first = type?.inputs[0]?.name;
    const before: string = at;
    at = graph.edges.find((e) => e.to === before && inputOf(e, type) === first)?.from;
  }
  return "stream";
}
