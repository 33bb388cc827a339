import type { RJSFSchema } from "@rjsf/utils";
import type { Config, Graph, Step } from "../api/graph";
import type { StepType } from "../api/stepTypes";
import { type Catalogue, inputOf, inputsOf } from "../canvas/ports";
import { formSchema } from "./formSchema";
import { joinRenames } from "./joinRenames";
import { type Renames, renameInQuery, renameInText, renamesOfQuery } from "./renameInText";

/** A text of a step's config before and after. */
export interface Change {
  step: string;
  field: string;
  before: string;
  after: string;
}

/** What reading it by its new name changes, and the steps whose Python may read it by the old. */
export interface Renamed {
  graph: Graph;
  changes: Change[];
  byHand: string[];
}

/** The columns that a step gives, as far as that is known. */
export type KnownNames = (step: string) => string[] | undefined;

interface Inflow {
  all: Renames;
  byPort: Record<string, Renames>;
  /** The names that flow in by a port, as they were before. */
  names: Record<string, string[]>;
}

/**
 * A graph in which everything that reads a step's column `from` reads it by its new name `to`, down
 * to where another column takes the name over; and what changes by that, in the order of the rows.
 *
 * Of expressions and queries only the names of that column change: texts in quotes, functions and
 * other columns of the same name stay. Python is left to those who wrote it.
 */
export function renameColumn(
  graph: Graph,
  catalogue: Catalogue,
  known: KnownNames,
  { step: origin, from, to }: { step: string; from: string; to: string },
): Renamed {
  const first: Renames = new Map([[from.toLowerCase(), to]]);
  const given = new Map<string, Renames>([[origin, first]]);
  const changed = new Map<string, Config>();
  const changes: Change[] = [];
  const byHand: string[] = [];
  for (const step of downwards(graph, origin)) {
    const type = catalogue.get(step.type);
    if (!type) continue;
    const begins = step.id === origin;
    const inflow = begins ? own(type, first) : inflowOf(graph, step, type, given, known);
    if (inflow.all.size === 0) continue;
    const here: Change[] = [];
    const config = rewritten(step, type, inflow, begins, here);
    if (here.length > 0) changed.set(step.id, config);
    changes.push(...here);
    if (!begins && names(step.config.code, inflow.all)) byHand.push(step.id);
    if (!begins) given.set(step.id, passedOn(graph, step, config, inflow, given, known));
  }
  if (changes.length === 0) return { graph, changes, byHand };
  const steps = graph.steps.map((s) => ({ ...s, config: changed.get(s.id) ?? s.config }));
  return { graph: { ...graph, steps }, changes, byHand };
}

/** Whether Python code has one of the old names in quotes, as it reads a row's columns. */
function names(code: unknown, renames: Renames): boolean {
  if (typeof code !== "string") return false;
  const texts = [...code.matchAll(/(["'])(.*?)\1/g)].map((match) => match[2] ?? "");
  return texts.some((text) => renames.has(text.toLowerCase()));
}

/** A source's own fields (its key, its event time) name the columns that it gives. */
function own(type: StepType, renames: Renames): Inflow {
  const all: Renames = type.inputs.length === 0 ? renames : new Map();
  return { all, byPort: {}, names: {} };
}

function inflowOf(
  graph: Graph,
  step: Step,
  type: StepType,
  given: Map<string, Renames>,
  known: KnownNames,
): Inflow {
  const inputs = inputsOf(step, type);
  const byPort: Record<string, Renames> = {};
  const names: Record<string, string[]> = {};
  for (const { name } of inputs) byPort[name] = new Map();
  for (const edge of graph.edges) {
    if (edge.to !== step.id) continue;
    const port = inputOf(edge, inputs);
    const renames = given.get(edge.from) ?? new Map();
    byPort[port] = new Map([...(byPort[port] ?? []), ...renames]);
    names[port] = [...(names[port] ?? []), ...namesBefore(known(edge.from), renames)];
  }
  const all: Renames = new Map(Object.values(byPort).flatMap((renames) => [...renames]));
  return { all, byPort, names };
}

/** What a step gave before; what is known of it may be older than the rename, or newer. */
function namesBefore(known: string[] | undefined, renames: Renames): string[] {
  const old = new Map([...renames].map(([from, to]) => [to.toLowerCase(), from]));
  const names = (known ?? []).map((name) => old.get(name.toLowerCase()) ?? name);
  const missing = [...renames.keys()].filter((n) => !names.some((m) => m.toLowerCase() === n));
  return [...names, ...missing];
}

/** The config of a step with the columns it reads renamed; what changes is added to `changes`. */
function rewritten(
  step: Step,
  type: StepType,
  { all, byPort }: Inflow,
  begins: boolean,
  changes: Change[],
): Config {
  function text(value: string, format: string | undefined, name: string): string {
    if (format === "column") return (byPort[name] ?? all).get(value.toLowerCase()) ?? value;
    if (format === "expression" && !begins)
      return renameInText(
        value,
        kept(all, (n) => !(step.type === "reduce" && n === "acc")),
      );
    if (format === "sql" && !begins) return renameInQuery(value, all, byPort);
    return value;
  }

  function walk(value: unknown, schema: RJSFSchema | undefined, path: string[]): unknown {
    const name = path.findLast((part) => !/^\d+$/.test(part)) ?? "";
    if (typeof value === "string") {
      const after = text(value, schema?.format, name);
      if (after !== value)
        changes.push({ step: step.id, field: path.join("."), before: value, after });
      return after;
    }
    if (Array.isArray(value)) {
      const items = schema?.items as RJSFSchema | undefined;
      return value.map((item, i) => walk(item, items, [...path, String(i)]));
    }
    if (typeof value !== "object" || value === null) return value;
    const inside = schema?.properties as Record<string, RJSFSchema> | undefined;
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([key, v]) => [key, walk(v, inside?.[key], [...path, key])]),
    );
  }

  return walk(step.config, formSchema(type.schema), []) as Config;
}

type Values = Record<string, unknown>;

/** The renames that whoever reads from this step sees. */
function passedOn(
  graph: Graph,
  step: Step,
  after: Config,
  inflow: Inflow,
  given: Map<string, Renames>,
  known: KnownNames,
): Renames {
  const { config } = step;
  const { all } = inflow;
  switch (step.type) {
    case "select": {
      const named = new Set(items(config.columns).map(({ name }) => lower(name)));
      return kept(all, (n) => !named.has(n) && (config.keep !== "listed" || n.startsWith("_")));
    }
    case "explode":
      return kept(all, (n) => n !== lower(config.as));
    case "aggregate":
    case "reduce": {
      const groups = new Set((Array.isArray(config.group_by) ? config.group_by : []).map(lower));
      return kept(all, (n) => groups.has(n));
    }
    case "python_map":
    case "python_processor":
      return kept(all, (n) => n.startsWith("_"));
    case "merge":
      return kept(all, (n) => {
        const edges = graph.edges.filter((edge) => edge.to === step.id);
        return edges.every(
          ({ from }) => given.get(from)?.has(n) || !(known(from) ?? []).map(lower).includes(n),
        );
      });
    case "sql":
      return renamesOfQuery(String(config.query ?? ""), all, inflow.byPort);
    case "join":
      return joinRenames(config, after, inflow.byPort, inflow.names);
    default:
      return all;
  }
}

function kept(renames: Renames, keep: (name: string) => boolean): Renames {
  return new Map([...renames].filter(([name]) => keep(name)));
}

function items(value: unknown): Values[] {
  return Array.isArray(value) ? value.filter((v) => typeof v === "object" && v !== null) : [];
}

function lower(value: unknown): string {
  return typeof value === "string" ? value.toLowerCase() : "";
}

/** A step and all that its rows reach, each after those it reads from. */
function downwards(graph: Graph, origin: string): Step[] {
  const order: string[] = [];
  const seen = new Set<string>();
  function visit(id: string) {
    if (seen.has(id)) return;
    seen.add(id);
    for (const edge of graph.edges) if (edge.from === id) visit(edge.to);
    order.unshift(id);
  }
  visit(origin);
  const byId = new Map(graph.steps.map((step) => [step.id, step]));
  return order.flatMap((id) => byId.get(id) ?? []);
}
