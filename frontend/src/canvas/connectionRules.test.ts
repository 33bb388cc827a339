import { expect, test } from "vitest";
import type { Graph } from "../api/graph";
import { CATALOGUE } from "../api/testCatalogue";
import { inputFor, whyNot } from "./connectionRules";
import { readGraph } from "./editGraph";
import { edgeBetween, kindOf, outputsOf } from "./ports";

const graph: Graph = readGraph({
  steps: [
    { id: "views", type: "kafka_source", config: {} },
    { id: "people", type: "lookup_table", config: {} },
    { id: "kept", type: "filter", config: {} },
    { id: "counts", type: "aggregate", config: {} },
    { id: "named", type: "join", config: {} },
    { id: "split", type: "branch", config: { branches: [{ name: "cheap" }, { name: "dear" }] } },
    { id: "all", type: "merge", config: {} },
    { id: "out", type: "kafka_sink", config: {} },
  ],
  edges: [
    { from: "views", to: "kept" },
    { from: "kept", to: "counts" },
    { from: "views", to: "all" },
  ],
});

const refusal = (from: string, to: string, input = "rows", output = "rows") =>
  whyNot(graph, CATALOGUE, {}, { from, to, input, output })?.key ?? null;

test.each([
  ["views", "split", "rows", "rows", null],
  ["counts", "out", "rows", "rows", null],
  ["kept", "kept", "rows", "rows", "self"],
  ["counts", "kept", "rows", "rows", "circle"],
  ["views", "counts", "rows", "rows", "occupied"],
  ["people", "out", "rows", "rows", "kind"],
  ["people", "named", "left", "rows", "kind"],
  ["people", "named", "right", "rows", null],
  ["views", "named", "right", "rows", null],
  ["views", "all", "rows", "rows", "twice"],
  ["kept", "all", "rows", "rows", null],
  ["split", "out", "rows", "cheap", null],
  ["split", "out", "rows", "gone", "noOutput"],
  ["views", "out", "left", "rows", "noInput"],
])("%s → %s.%s by %s: %s", (from, to, input, output, key) => {
  expect(refusal(from, to, input, output)).toBe(key);
});

const more: Graph = readGraph({
  steps: [
    ...graph.steps,
    { id: "names", type: "kafka_table", config: {} },
    { id: "loose", type: "filter", config: {} },
    { id: "flat", type: "explode", config: {} },
    { id: "changes", type: "to_stream", config: {} },
    { id: "unique", type: "deduplicate", config: {} },
    { id: "newest", type: "to_table", config: {} },
    { id: "seen", type: "peek", config: {} },
    { id: "mapped", type: "python_map", config: {} },
    { id: "final", type: "aggregate", config: { emit: "final" } },
    { id: "plain", type: "sql", config: {} },
    { id: "both", type: "sql", config: { query: "select * from sold join people" } },
  ],
  edges: [],
});

test.each([
  ["names", "changes", "rows", null],
  ["names", "seen", "rows", null],
  ["names", "unique", "rows", "kind"],
  ["names", "mapped", "rows", "kind"],
  ["names", "named", "left", null],
  ["names", "named", "right", null],
  ["views", "changes", "rows", "kind"],
  ["flat", "changes", "rows", "kind"],
  ["newest", "changes", "rows", null],
  ["final", "changes", "rows", "kind"],
  ["final", "unique", "rows", null],
  ["people", "changes", "rows", "kind"],
  // What a filter will give is not known while nothing flows into it.
  ["loose", "changes", "rows", null],
  ["loose", "unique", "rows", null],
  ["views", "plain", "rows", null],
  ["views", "plain", "sold", "noInput"],
  ["views", "both", "sold", null],
  ["people", "both", "people", null],
  ["names", "both", "people", "kind"],
  ["views", "both", "rows", "noInput"],
])("a %s may be drawn to %s.%s: %s", (from, to, input, key) => {
  expect(whyNot(more, CATALOGUE, {}, { from, to, input, output: "rows" })?.key ?? null).toBe(key);
});

test("the sentence names both steps and what flows", () => {
  const found = whyNot(
    graph,
    CATALOGUE,
    {},
    { from: "people", to: "named", input: "left", output: "rows" },
  );
  expect(found?.values).toEqual({
    from: "Lookup table",
    to: "Join",
    kind: "lookup",
    kinds: "stream or a table",
  });
});

test("what the check says of a kind counts more than what the type suggests", () => {
  expect(kindOf(graph, CATALOGUE, {}, "counts")).toBe("table");
  expect(kindOf(graph, CATALOGUE, { counts: { kind: "stream" } }, "counts")).toBe("stream");
});

test("kinds flow on through steps that keep them", () => {
  const table = readGraph({
    steps: [...graph.steps, { id: "big", type: "filter", config: {} }],
    edges: [...graph.edges, { from: "counts", to: "big" }],
  });
  expect(kindOf(table, CATALOGUE, {}, "big")).toBe("table");
});

test("a branch's outputs are its names, and otherwise", () => {
  const split = graph.steps.find((step) => step.id === "split") as Graph["steps"][number];
  const type = CATALOGUE.get("branch");
  expect(type && outputsOf(split, type)).toEqual(["cheap", "dear", "otherwise"]);
});

test("an edge names its ports only where a step has several", () => {
  const between = (from: string, output: string, to: string, input: string) =>
    edgeBetween(graph, CATALOGUE, from, output, to, input);
  expect(between("views", "rows", "kept", "rows")).toEqual({ from: "views", to: "kept" });
  expect(between("split", "dear", "named", "left")).toEqual({
    from: "split",
    output: "dear",
    to: "named",
    port: "left",
  });
});

test("a step offers the input that takes the kind", () => {
  const join = CATALOGUE.get("join");
  expect(join && inputFor(join, "lookup")).toBe("right");
  expect(join && inputFor(join, "stream")).toBe("left");
  const explode = CATALOGUE.get("explode");
  expect(explode && inputFor(explode, "table")).toBeUndefined();
});
