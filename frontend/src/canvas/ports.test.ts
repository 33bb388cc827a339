import { expect, test } from "vitest";
import type { Graph } from "../api/graph";
import { CATALOGUE } from "../api/testCatalogue";
import { readGraph } from "./editGraph";
import { edgeBetween, followInputs, inputOf, inputsOf } from "./ports";

const sql = CATALOGUE.get("sql");
const asks = (query?: string) => ({ id: "q", type: "sql", config: query ? { query } : {} });
const names = (query?: string) => inputsOf(asks(query), sql).map(({ name }) => name);

test.each([
  [undefined, ["rows"]],
  ["", ["rows"]],
  ["select", ["rows"]],
  ["select * from views join people", ["views", "people"]],
])("the inputs of %s are %j", (query, inputs) => expect(names(query)).toEqual(inputs));

test("an input takes what the type's only one takes", () => {
  const [first] = inputsOf(asks("select * from views"), sql);
  expect(first).toEqual({ ...sql?.inputs[0], name: "views" });
});

test("an edge to a step whose inputs may become more names its input", () => {
  const graph = readGraph({ steps: [{ id: "v", type: "kafka_source" }, asks()], edges: [] });
  const edge = edgeBetween(graph, CATALOGUE, "v", "rows", "q", "rows");
  expect(edge).toEqual({ from: "v", to: "q", port: "rows" });
});

test.each([
  [{ port: "b" }, ["a", "b"], "b"],
  [{}, ["only"], "only"],
  [{}, ["a", "b"], "rows"],
  [{}, [], "rows"],
])("an edge %j of inputs %j ends at %s", (edge, inputs, end) => {
  const ports = inputs.map((name) => ({ name, kinds: [], many: false }));
  expect(inputOf({ from: "a", to: "b", ...edge }, ports)).toBe(end);
});

/** Change the query, one after the other, and say where the edges from a, b, c … end. */
function ends(first: (string | undefined)[], ...queries: string[]) {
  const steps = first.map((_, i) => ({ id: `s${i}`, type: "kafka_source" }));
  const edges = first.map((port, i) => ({ from: `s${i}`, to: "q", port }));
  let graph: Graph = readGraph({ steps: [...steps, asks(queries[0])], edges });
  queries.forEach((query, i) => {
    const before = inputsOf(asks(queries[i - 1] ?? queries[0]), sql);
    graph = followInputs(graph, "q", before, inputsOf(asks(query), sql));
  });
  return graph.edges.map((edge) => edge.port);
}

const from = (...tables: string[]) => `select * from ${tables.join(" join ")}`;

test.each([
  ["nothing new", [undefined], [from("rows"), from("rows", "")], [undefined]],
  ["a name changed", ["views"], [from("views"), from("view"), from("v")], ["v"]],
  ["no name for a moment", ["views"], [from("views"), "select * from ", from("sold")], ["sold"]],
  ["one of two", ["a", "b"], [from("a", "b"), from("a", "bb")], ["a", "bb"]],
  ["both at once", ["a", "b"], [from("a", "b"), from("c", "d")], ["c", "d"]],
  ["one more", [undefined], [from("a"), from("a", "b")], ["a"]],
  ["one less, and back", ["a", "b"], [from("a", "b"), from("a"), from("a", "b")], ["a", "b"]],
  ["one less, then another", ["a", "b"], [from("a", "b"), from("a"), from("a", "c")], ["a", "c"]],
  ["one renamed beside a free one", ["a"], [from("a", "b"), from("c", "b")], ["c"]],
  ["typed anew", ["a", "b"], [from("a", "b"), from("c"), from("cc"), from("cc", "d")], ["cc", "d"]],
  ["another order", ["a", "b"], [from("a", "b"), from("b", "a")], ["a", "b"]],
])("edges follow: %s", (_, first, queries, ports) => {
  expect(ends(first, ...queries)).toEqual(ports);
});
