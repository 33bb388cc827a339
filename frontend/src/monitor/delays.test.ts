import { expect, test } from "vitest";
import type { Health } from "../api/client";
import { readGraph } from "../canvas/editGraph";
import { delaysOf } from "./delays";

function reading(connection: string) {
  return readGraph({ steps: [{ id: "a", type: "kafka_source", config: { connection } }] });
}
const graph = reading("local");

function health(away: string[]): Health {
  const names = ["database", "redis", "control_worker", "spark_worker", "kafka"];
  return {
    status: "",
    checks: Object.fromEntries(
      names.map((name) => [name, { ok: !away.includes(name), message: `About ${name}.` }]),
    ),
  };
}

test("where all is there, nothing is delayed", () =>
  expect(delaysOf(health([]), graph)).toEqual([]));

test("what is away is named with what its check says", () => {
  expect(delaysOf(health(["kafka", "control_worker"]), graph)).toEqual([
    { away: "control_worker", message: "About control_worker." },
    { away: "kafka", message: "About kafka." },
  ]);
});

test("the spark worker delays no deployment", () => {
  expect(delaysOf(health(["spark_worker"]), graph)).toEqual([]);
});

test("without Redis nothing is said of the worker, of which nobody knows then", () => {
  const found = delaysOf(health(["redis", "control_worker"]), graph);
  expect(found.map(({ away }) => away)).toEqual(["redis"]);
});

test("a check that is not made is no reason to worry", () => {
  expect(delaysOf({ status: "down", checks: {} }, graph)).toEqual([]);
});

test("the local Kafka delays only what reads or writes there", () => {
  expect(delaysOf(health(["kafka"]), reading("other"))).toEqual([]);
});
