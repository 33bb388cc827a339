import { expect, test } from "vitest";
import type { Deployment } from "../api/types";
import { secondsUntil, standingOf } from "./standing";

function run(epoch: number, ended: boolean, exit_code: number | null = null) {
  return { epoch, ended_at: ended ? "2026-11-22T12:00:00Z" : null, exit_code };
}

function deployment(has: object): Deployment {
  return {
    state: "running",
    failures: 0,
    retry_at: null,
    missing_topics: [],
    runs: [],
    ...has,
  } as unknown as Deployment;
}

test.each(["running", "stopping", "stopped"])("%s is no trouble", (state) => {
  expect(standingOf(deployment({ state, runs: [run(1, true, 1)] }))).toBeNull();
});

test.each(["pending", "starting"])("%s is none either, unless it failed before", (state) => {
  expect(standingOf(deployment({ state }))).toBeNull();
  expect(standingOf(deployment({ state, failures: 1 }))).not.toBeNull();
});

test.each([
  ["topics are missing", { missing_topics: [{ connection: "c", topic: "t" }] }, "make_topics"],
  ["nothing has run yet", {}, "wait"],
  ["the last run says the world is at fault", { failures: 2, runs: [run(2, true, 75)] }, "wait"],
  ["the last run crashed", { failures: 2, runs: [run(2, true, 1)] }, "look"],
  ["the last run was killed", { failures: 2, runs: [run(2, true, null)] }, "look"],
] as const)("backing off, %s: %j", (_, has, advice) => {
  expect(standingOf(deployment({ state: "backing_off", ...has }))?.advice).toBe(advice);
});

test("what failed has to be mended", () => {
  expect(standingOf(deployment({ state: "failed", runs: [run(1, true, 65)] }))?.advice).toBe(
    "mend",
  );
});

test.each([
  ["a topic is missing", { missing_topics: [{ connection: "c", topic: "t" }] }, false],
  ["something was away before it ran", {}, false],
  ["a run failed", { failures: 1, runs: [run(1, true, 75)] }, true],
])("where %s a moment for the next try is told: %j %s", (_, has, told) => {
  const retry_at = "2026-11-22T12:00:00Z";
  const found = standingOf(deployment({ state: "backing_off", retry_at, ...has }));
  expect(found?.retryAt).toBe(told ? retry_at : null);
});

test("the run that ended last is told, not the one that is under way", () => {
  const runs = [run(3, false), run(2, true, 1), run(1, true, 75)];
  expect(standingOf(deployment({ state: "starting", failures: 1, runs }))?.last?.epoch).toBe(2);
});

test("seconds count down to the moment and no further", () => {
  const now = Date.parse("2026-11-22T12:00:00Z");
  expect(secondsUntil("2026-11-22T12:00:04.200Z", now)).toBe(5);
  expect(secondsUntil("2026-11-22T12:00:00Z", now)).toBeNull();
  expect(secondsUntil("2026-11-22T11:00:00Z", now)).toBeNull();
});
