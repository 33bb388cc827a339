import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Graph } from "../api/graph";
import { addStep, changeConfig, moveSteps, removeSteps, spliceStep } from "./editGraph";
import { createGraphStore } from "./graphStore";

const CHAIN: Graph = {
  version: 1,
  steps: [
    { id: "a", type: "kafka_source", config: {} },
    { id: "b", type: "kafka_sink", config: {} },
  ],
  edges: [{ from: "a", to: "b" }],
  canvas: { layout: { a: { x: 0, y: 0 }, b: { x: 300, y: 0 } }, notes: [], groups: [] },
};

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("a move of several steps is one undo step", () => {
  const store = createGraphStore(CHAIN);
  store.change((g) => moveSteps(g, { a: { x: 5, y: 5 }, b: { x: 305, y: 5 } }));
  expect(store.graph().canvas.layout.b).toEqual({ x: 305, y: 5 });
  store.undo();
  expect(store.graph()).toEqual(CHAIN);
  store.redo();
  expect(store.graph().canvas.layout.a).toEqual({ x: 5, y: 5 });
});

test("a splice is one undo step: the new step, both edges and what made room", () => {
  const store = createGraphStore(CHAIN);
  const edge = CHAIN.edges[0] as Graph["edges"][number];
  store.change((g) =>
    spliceStep(g, { id: "f", type: "filter", config: {} }, { x: 150, y: 0 }, edge, {}),
  );
  expect(store.graph().edges).toEqual([
    { from: "a", to: "f" },
    { from: "f", to: "b" },
  ]);
  expect(store.graph().canvas.layout.b?.x).toBeGreaterThan(300);
  store.undo();
  expect(store.graph()).toEqual(CHAIN);
});

test("typing into one field is one undo step, into another a second", () => {
  const store = createGraphStore(CHAIN);
  for (const topic of ["p", "pa", "pag"]) {
    store.change((g) => changeConfig(g, "b", { topic }), "b topic");
    vi.advanceTimersByTime(200);
  }
  store.change((g) => changeConfig(g, "a", { format: "text" }), "a format");
  store.undo();
  expect(store.graph().steps[1]?.config).toEqual({ topic: "pag" });
  store.undo();
  expect(store.graph()).toEqual(CHAIN);
});

test("typing after a pause is an undo step of its own", () => {
  const store = createGraphStore(CHAIN);
  store.change((g) => changeConfig(g, "b", { topic: "a" }), "b topic");
  vi.advanceTimersByTime(1_500);
  store.change((g) => changeConfig(g, "b", { topic: "ab" }), "b topic");
  store.undo();
  expect(store.graph().steps[1]?.config).toEqual({ topic: "a" });
});

test("what changes nothing is no undo step", () => {
  const store = createGraphStore(CHAIN);
  store.change((g) => moveSteps(g, { a: { x: 0, y: 0 } }));
  expect(store.history.getState().pastStates).toHaveLength(0);
});

test("a change after undo forgets what was undone", () => {
  const store = createGraphStore(CHAIN);
  store.change((g) => removeSteps(g, ["a"]));
  store.undo();
  store.change((g) => addStep(g, { id: "c", type: "filter", config: {} }, { x: 0, y: 0 }));
  expect(store.history.getState().futureStates).toHaveLength(0);
});

test("taking over another graph can't be undone", () => {
  const store = createGraphStore(CHAIN);
  store.change((g) => removeSteps(g, ["a"]));
  store.replace(CHAIN);
  store.undo();
  expect(store.graph()).toBe(CHAIN);
});
