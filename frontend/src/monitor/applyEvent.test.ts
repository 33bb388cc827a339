import { expect, test } from "vitest";
import type { Deployment } from "../api/types";
import { applyEvent, applyListedEvent } from "./applyEvent";

const deployment = {
  id: "d",
  state: "starting",
  message: "",
  desired: "running",
  step: null,
  samples: {},
  missing_topics: [],
  metrics: null,
} as unknown as Deployment;
const at = "2026-11-21T12:00:00Z";

test("a state event changes state and sentence, and keeps what it does not tell", () => {
  const next = applyEvent(deployment, {
    at,
    type: "state",
    state: "running",
    message: "Runs.",
    step: null,
  });
  expect(next).toMatchObject({
    state: "running",
    message: "Runs.",
    desired: "running",
    updated_at: at,
  });
});

test("metrics replace the ones before", () => {
  const steps = { a: { in: 1, out: 2, dropped: 0, rate: 3 } };
  const next = applyEvent(deployment, { at, type: "metrics", rate: 3, steps, segments: {} });
  expect(next.metrics).toEqual({ at, rate: 3, steps, segments: {} });
});

test("a sample replaces the rows of its step only", () => {
  const before = { ...deployment, samples: { a: [{ x: 1 }], b: [{ y: 1 }] } };
  const next = applyEvent(before, { at, type: "sample", step: "a", rows: [{ x: 2 }] });
  expect(next.samples).toEqual({ a: [{ x: 2 }], b: [{ y: 1 }] });
});

test("an event of the list reaches its deployment only", () => {
  const other = { ...deployment, id: "e" };
  const next = applyListedEvent([deployment, other], {
    at,
    type: "state",
    state: "failed",
    message: "",
    step: null,
    deployment: "e",
  });
  expect(next.map(({ state }) => state)).toEqual(["starting", "failed"]);
});
