import { expect, test } from "vitest";
import type { Metrics } from "../api/types";
import { readGraph } from "./editGraph";
import { addSample, lagsOf, waitingIn } from "./waiting";

const graph = readGraph({
  steps: [
    { id: "views", type: "kafka_source", config: { topics: ["views"] } },
    { id: "prices", type: "kafka_table", config: { topic: "prices" } },
    { id: "logs", type: "kafka_source", config: { pattern: "log.*" } },
    { id: "counts", type: "aggregate", config: {} },
    { id: "joined", type: "join", config: {} },
    { id: "out", type: "kafka_sink", config: { topic: "views" } },
  ],
  edges: [
    { from: "views", to: "counts" },
    { from: "counts", to: "joined" },
    { from: "prices", to: "joined" },
    { from: "joined", to: "out" },
  ],
});
const segments = [
  { id: "counts", steps: ["views", "counts"] },
  { id: "out", steps: ["prices", "joined", "out"] },
  { id: "logs", steps: ["logs"] },
  { id: "views_dead_letters", steps: ["views"] },
];

function metrics(segment: string, lag: object, lag_seconds: object | null = null) {
  return { segments: { [segment]: { lag, lag_seconds } } } as unknown as Metrics;
}

test.each([
  [
    "rows wait before the source that names their topic, all partitions together",
    metrics("counts", { "views-0": 3, "views-1": 4 }, { "views-0": 2, "views-1": 9 }),
    { "step views": { rows: 7, seconds: 9 }, "segment counts": { rows: 7, seconds: 9 } },
  ],
  [
    "rows of an internal topic wait on the edge between two segments",
    metrics("out", { "headrace.shop-1.counts.rows-0": 5, "prices-0": 1 }, { "prices-0": 4 }),
    {
      "edge counts joined": { rows: 5, seconds: null },
      "step prices": { rows: 1, seconds: 4 },
      "segment out": { rows: 6, seconds: 4 },
    },
  ],
  [
    "rows of a topic that no source names wait before the one with a pattern",
    metrics("logs", { "log-eu-0": 5 }),
    { "step logs": { rows: 5, seconds: null }, "segment logs": { rows: 5, seconds: null } },
  ],
  [
    "rows that two segments read wait for the later of them",
    {
      segments: {
        counts: { lag: { "views-0": 3 }, lag_seconds: { "views-0": 2 } },
        views_dead_letters: { lag: { "views-0": 8 }, lag_seconds: null },
      },
    } as unknown as Metrics,
    {
      "step views": { rows: 8, seconds: 2 },
      "segment counts": { rows: 3, seconds: 2 },
      "segment views_dead_letters": { rows: 8, seconds: null },
    },
  ],
  ["what is not known does not wait", metrics("counts", { "views-0": null }), {}],
  ["what is not told does not wait", { segments: {} } as Metrics, {}],
])("%s", (_, told, expected) => expect(lagsOf(graph, segments, told)).toEqual(expected));

function over(rows: number[], seconds: number | null = null) {
  let samples: Parameters<typeof waitingIn>[0] = [];
  for (const [at, n] of rows.entries())
    samples = addSample(samples, { at, lags: { a: { rows: n, seconds } } });
  return waitingIn(samples).a;
}

test.each([
  ["grows", [100, 140, 180, 230, 260, 300], true],
  ["grows while batches take some", [100, 20, 110, 30, 300, 220, 310, 230], true],
  ["goes up and down with its batches", [0, 300, 0, 300, 0, 300, 0, 300], undefined],
  ["becomes less", [300, 260, 230, 180, 140, 100], undefined],
  ["stands", [300, 300, 300, 300, 300, 300], undefined],
  ["is a handful", [0, 1, 2, 3, 4, 5, 6, 7], undefined],
  ["was hardly seen yet", [100, 200, 300], undefined],
])("what %s: growing %s", (_, rows, growing) => expect(over(rows)?.growing).toBe(growing));

test("what waits for long is told, growing or not", () => {
  expect(over([5], 40)).toEqual({ rows: 5, seconds: 40, growing: false });
  expect(over([5], 9)).toBeUndefined();
});

test("samples go forward, and only those of the last half minute stay", () => {
  const one = (at: number) => ({ at, lags: {} });
  expect(addSample([one(5)], one(5))).toEqual([one(5)]);
  expect(addSample([one(5), one(20)], one(40))).toEqual([one(20), one(40)]);
});
