import { expect, test } from "vitest";
import type { Deployment } from "../api/types";
import { type CountSpan, momentsOf } from "./countSpan";

const local = (text: string) => new Date(text).getTime() / 1000;
const now = local("2026-11-22T05:10:00");
const charts = { from: 7, to: 9 };

const runs = [
  ["2026-11-22T05:00:00Z", 3],
  ["2026-11-22T04:00:00Z", 3],
  ["2026-11-22T03:00:00Z", 2],
  ["2026-11-22T02:00:00Z", 3],
].map(([started_at, version]) => ({ started_at, version })) as Deployment["runs"];

test.each<[CountSpan, number, number | null]>([
  ["version", Date.parse("2026-11-22T04:00:00Z") / 1000, null],
  ["hour", local("2026-11-22T04:10:00"), null],
  ["hour_last_week", local("2026-11-15T04:10:00"), local("2026-11-15T05:10:00")],
  ["today", local("2026-11-22T00:00:00"), null],
  ["yesterday", local("2026-11-21T00:00:00"), local("2026-11-22T00:00:00")],
  ["day_last_week", local("2026-11-15T00:00:00"), local("2026-11-16T00:00:00")],
  ["charts", 7, 9],
])("%s", (span, from, to) => expect(momentsOf(span, now, runs, charts)).toEqual({ from, to }));

test("all that was ever counted has no beginning", () =>
  expect(momentsOf("all", now, runs, charts)).toBeNull());

test("a version that runs since the first run began with it", () => {
  const one = runs.slice(0, 2);
  expect(momentsOf("version", now, one, charts)?.from).toBe(
    Date.parse("2026-11-22T04:00:00Z") / 1000,
  );
  expect(momentsOf("version", now, [], charts)).toEqual({ from: now, to: null });
});
