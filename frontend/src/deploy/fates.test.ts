import { expect, test } from "vitest";
import type { Fit } from "../api/client";
import { fates, forgets } from "./fates";

function segment(id: string, checkpoint: string, goes_on: boolean): Fit["segments"][number] {
  return { id, mode: "real_time", checkpoint, goes_on, message: "" };
}

const fit: Fit = {
  fits: false,
  segments: [
    segment("totals", "totals-1a", true),
    segment("counts", "counts-3c", false),
    segment("late", "late-4d", false),
  ],
  left: ["counts-2b", "gone-9f"],
};

test("a segment goes on, begins anew where its checkpoint is left, or is new here", () => {
  expect(fates(fit, false).map(({ fate }) => fate)).toEqual(["goes_on", "anew", "new"]);
});

test("beginning afresh is the fate of all", () => {
  expect(fates(fit, true).map(({ fate }) => fate)).toEqual(["afresh", "afresh", "afresh"]);
});

test("state is lost where a checkpoint does not fit, and where all begins afresh", () => {
  expect(forgets(fit, false)).toBe(true);
  const all = { ...fit, fits: true, segments: fit.segments.slice(0, 1), left: [] };
  expect(forgets(all, false)).toBe(false);
  expect(forgets(all, true)).toBe(true);
});

test("where nothing has run, nothing is lost", () => {
  const first = { ...fit, segments: fit.segments.slice(2), left: [] };
  expect(forgets(first, false)).toBe(false);
  expect(forgets(first, true)).toBe(false);
});
