import { expect, test } from "vitest";
import type { MeasureOut, RuleOut } from "../api/client";
import { bodyOf, durationOf, formOf, hasPlace } from "./ruleForm";

const LAG = { name: "lag", takes_threshold: true } as MeasureOut;
const FAILED = { name: "failed", takes_threshold: false } as MeasureOut;
const RULE: RuleOut = {
  id: "r",
  name: "Behind",
  measure: "lag",
  threshold: 1000,
  seconds: 120,
  severity: "critical",
  is_on: false,
  folder: "",
  pipeline: { id: "p", name: "P" },
  deployment: { id: "d", name: "P in default" },
  webhook: "https://example.com/",
  signed: true,
  emails: ["a@example.com"],
  may_change: true,
  tests: [],
  updated_at: "2026-01-01T00:00:00Z",
};

test.each([
  [0, 0, "s"],
  [45, 45, "s"],
  [90, 90, "s"],
  [120, 2, "min"],
  [3600, 1, "h"],
  [5400, 90, "min"],
])("%d seconds are %d %s", (seconds, amount, unit) =>
  expect(durationOf(seconds)).toEqual({ amount, unit }),
);

test("a rule that is opened and saved stays as it was, its secret too", () => {
  expect(bodyOf(formOf(RULE), LAG)).toEqual({
    name: "Behind",
    measure: "lag",
    threshold: 1000,
    seconds: 120,
    severity: "critical",
    is_on: false,
    folder: "",
    pipeline: null,
    deployment: "d",
    webhook: "https://example.com/",
    webhook_secret: null,
    emails: ["a@example.com"],
  });
});

test("a threshold is sent only where there is something to compare with", () => {
  expect(bodyOf({ ...formOf(RULE), measure: "failed" }, FAILED).threshold).toBeNull();
});

test.each([
  [{ secret: "new" }, "new"],
  [{ secret: "new", unsign: true }, "new"],
  [{ unsign: true }, ""],
  [{}, null],
])("the secret of %o", (part, secret) =>
  expect(bodyOf({ ...formOf(RULE), ...part }, LAG).webhook_secret).toBe(secret),
);

test("only the place that is chosen is sent, and one must be", () => {
  const form = { ...formOf(RULE), place: "folder" as const, folder: " sales " };
  expect(bodyOf(form, LAG)).toMatchObject({ folder: "sales", pipeline: null, deployment: null });
  expect(hasPlace(form)).toBe(true);
  expect(hasPlace({ ...form, folder: " " })).toBe(false);
  expect(hasPlace({ ...form, place: "everything" })).toBe(true);
});
