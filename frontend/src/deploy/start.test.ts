import { expect, test } from "vitest";
import { readGraph } from "../canvas/editGraph";
import { allOffsets, type Chosen, partitionsOf, sourceTopics, startOf, tablesOf } from "./start";

const graph = readGraph({
  steps: [
    {
      id: "views",
      type: "kafka_source",
      config: { connection: "local", topics: ["views", "clicks"] },
    },
    {
      id: "users",
      type: "kafka_table",
      config: { connection: "other", topic_pattern: "users-.*" },
    },
    { id: "out", type: "kafka_sink", config: { connection: "local", topic: "sums" } },
  ],
  edges: [],
});
const known = {
  local: [
    { topic: "views", partitions: 2 },
    { topic: "sums", partitions: 9 },
  ],
  other: [
    { topic: "users-eu", partitions: 1 },
    { topic: "the-users-eu", partitions: 9 },
  ],
};
const chosen: Chosen = { way: "steps", time: "", offsets: {} };

test("the topics of the sources are those that are there, by name and by pattern", () => {
  const partitions = partitionsOf(sourceTopics(graph), known);
  expect([...partitions]).toEqual([
    ["views", 2],
    ["users-eu", 1],
  ]);
});

test("a pattern that only Java reads names no topics and breaks nothing", () => {
  const sources = [{ connection: "local", topics: [], pattern: "(?i)views" }];
  expect(partitionsOf(sources, known).size).toBe(0);
});

test("tables are told from streams", () => expect(tablesOf(graph)).toEqual(["users"]));

test("every partition gets an offset, since a reader wants them all", () => {
  const partitions = new Map([["views", 3]]);
  expect(allOffsets(partitions, { views: { 1: 1200, 7: 3 }, gone: { 0: 1 } })).toEqual({
    views: { 0: -2, 1: 1200, 2: -2 },
  });
});

test("where the sources decide, nothing is asked for", () => {
  expect(startOf(chosen, new Map())).toBeUndefined();
});

test.each(["earliest", "latest"] as const)("%s is asked for as it is", (way) => {
  expect(startOf({ ...chosen, way }, new Map())).toBe(way);
});

test("a time of this browser's clock is asked for in UTC", () => {
  const time = "2026-11-22T03:04:05";
  expect(startOf({ ...chosen, way: "timestamp", time }, new Map())).toEqual({
    timestamp: new Date(2026, 10, 22, 3, 4, 5).toISOString(),
  });
});

test("what is not complete yet can't be asked for", () => {
  expect(startOf({ ...chosen, way: "timestamp" }, new Map())).toBeNull();
  expect(startOf({ ...chosen, way: "offsets" }, new Map())).toBeNull();
});
