import { expect, test } from "vitest";
import type { Graph } from "../api/graph";
import {
  addEdge,
  changeId,
  copySteps,
  dropLostOutputs,
  freeId,
  isId,
  meaning,
  moveSteps,
  pasteSteps,
  readFragment,
  readGraph,
  removeSteps,
} from "./editGraph";

const graph: Graph = readGraph({
  steps: [
    { id: "views", type: "kafka_source", config: {} },
    { id: "bought", type: "filter", config: { condition: "x" } },
    { id: "out", type: "kafka_sink", config: {} },
  ],
  edges: [
    { from: "views", to: "bought", output: null, port: null },
    { from: "bought", to: "out" },
  ],
});

test("a graph that nobody laid out gets a place for each step, left to right", () => {
  const { layout } = graph.canvas;
  const x = (id: string) => layout[id]?.x ?? Number.NaN;
  expect(x("views")).toBeLessThan(x("bought"));
  expect(x("bought")).toBeLessThan(x("out"));
});

test("edges name ports only where they do", () => {
  expect(graph.edges[0]).toEqual({ from: "views", to: "bought" });
});

test("moving a step does not change what the graph says", () => {
  expect(meaning(moveSteps(graph, { out: { x: 9, y: 9 } }))).toEqual(meaning(graph));
});

test("removing a step takes its edges and its place with it", () => {
  const left = removeSteps(graph, ["bought"]);
  expect(left.edges).toEqual([]);
  expect(left.canvas.layout).not.toHaveProperty("bought");
});

test("remove and join keeps the rows flowing", () => {
  expect(removeSteps(graph, ["bought"], true).edges).toEqual([{ from: "views", to: "out" }]);
});

test("a new id goes into edges and layout", () => {
  const renamed = changeId(graph, "bought", "sold");
  expect(renamed.edges).toEqual([
    { from: "views", to: "sold" },
    { from: "sold", to: "out" },
  ]);
  expect(renamed.canvas.layout.sold).toEqual(graph.canvas.layout.bought);
  expect(renamed.canvas.layout).not.toHaveProperty("bought");
});

test("an edge is there once", () => {
  expect(addEdge(graph, { from: "views", to: "bought" })).toBe(graph);
});

test("copied steps come back under free ids with the edges among them", () => {
  const fragment = readFragment(JSON.stringify(copySteps(graph, ["views", "bought"])));
  if (!fragment) throw new Error("The fragment was not read.");
  const { graph: pasted, ids } = pasteSteps(graph, fragment, { x: 40, y: 40 });
  expect(ids).toEqual(["views_2", "bought_2"]);
  expect(pasted.edges).toContainEqual({ from: "views_2", to: "bought_2" });
  expect(pasted.steps).toHaveLength(5);
});

test.each(["", "hello", "[1,2]", '{"a":1}', '{"steps":"no"}', '{"steps":[{"id":1}]}', "null"])(
  "%s on the clipboard is no fragment",
  (text) => expect(readFragment(text)).toBeNull(),
);

test("an exported pipeline can be pasted", () => {
  expect(readFragment(JSON.stringify({ name: "n", graph }))?.steps).toHaveLength(3);
});

test("free ids count on", () => {
  expect(freeId({ steps: [] }, "filter")).toBe("filter");
  const taken = ["filter", "filter_2"].map((id) => ({ id, type: "filter", config: {} }));
  expect(freeId({ steps: taken }, "filter_2")).toBe("filter_3");
});

test.each([
  ["views", true],
  ["v_1", true],
  ["Views", false],
  ["1v", false],
  ["", false],
  ["a".repeat(64), false],
])("%s can be an id: %s", (text, may) => expect(isId(text)).toBe(may));

test("a branch that is renamed loses the edges of its old name", () => {
  const branched = addEdge(graph, { from: "bought", to: "out", output: "cheap" });
  expect(dropLostOutputs(branched, "bought", ["dear", "otherwise"]).edges).toHaveLength(2);
});
