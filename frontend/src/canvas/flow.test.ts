import { expect, test } from "vitest";
import { CATALOGUE } from "../api/testCatalogue";
import { moveSteps, readGraph } from "./editGraph";
import { placesOf, toEdges, toNodes } from "./flow";

const graph = readGraph({
  steps: [
    { id: "a", type: "branch", config: { branches: [{ name: "x" }] } },
    { id: "b", type: "filter", config: {} },
    { id: "c", type: "join", config: {} },
  ],
  edges: [
    { from: "a", to: "b", output: "x" },
    { from: "b", to: "c", port: "left" },
  ],
});

test("steps become nodes where they stand, and back", () => {
  expect(placesOf(toNodes(graph, []))).toEqual(graph.canvas.layout);
});

test("edges lead between the ports they name, and between the only ones where they name none", () => {
  expect(toEdges(graph, CATALOGUE, []).map((e) => [e.sourceHandle, e.targetHandle])).toEqual([
    ["x", "rows"],
    ["rows", "left"],
  ]);
});

test("only what changed is a new object", () => {
  const before = toNodes(graph, []);
  const after = toNodes(moveSteps(graph, { b: { x: 1, y: 1 } }), before);
  expect(after.map((node, i) => node === before[i])).toEqual([true, false, true]);
  const edges = toEdges(graph, CATALOGUE, []);
  expect(toEdges(graph, CATALOGUE, edges)).toEqual(edges);
  expect(toEdges(graph, CATALOGUE, edges)[0]).toBe(edges[0]);
});

test("what React Flow measured stays when a step moves", () => {
  const before = toNodes(graph, []).map((node) => ({
    ...node,
    measured: { width: 208, height: 74 },
  }));
  const after = toNodes(moveSteps(graph, { b: { x: 1, y: 1 } }), before);
  expect(after[1]?.measured).toEqual({ width: 208, height: 74 });
});

test("selection comes from outside where it is given", () => {
  const before = toNodes(graph, [], new Set(["a"]));
  expect(toNodes(graph, before, new Set(["b"])).map((node) => node.selected)).toEqual([
    false,
    true,
    false,
  ]);
});
