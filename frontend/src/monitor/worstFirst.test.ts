import { expect, test } from "vitest";
import type { DeploymentListed } from "../api/types";
import { chosen, totals, worstFirst } from "./worstFirst";

type Told = Partial<NonNullable<DeploymentListed["metrics"]>>;

function listed(name: string, state: string, metrics: Told | null = {}, folder = "") {
  return {
    id: name,
    pipeline: { id: name, name, folder },
    environment: "default",
    state,
    metrics: metrics && { rate: 0, lag: null, lag_seconds: null, ...metrics },
  } as unknown as DeploymentListed;
}

const names = (deployments: DeploymentListed[]) => deployments.map(({ id }) => id);

test.each([
  [
    "what failed is worse than what tries again, than what runs, than what was stopped",
    [
      listed("failed", "failed", null),
      listed("again", "backing_off"),
      listed("runs", "running", { rate: 9 }),
      listed("stopped", "stopped", { lag: 900 }),
    ],
  ],
  [
    "what is late comes before what only has many rows to read",
    [
      listed("late", "running", { lag: 20, lag_seconds: 45 }),
      listed("busy", "running", { lag: 90_000, lag_seconds: 2 }),
    ],
  ],
  [
    "more rows to read come first, then more rows",
    [
      listed("far", "running", { lag: 5_000 }),
      listed("near", "running", { lag: 12 }),
      listed("fast", "running", { rate: 3_000 }),
      listed("slow", "running", { rate: 3 }),
      listed("idle", "running"),
    ],
  ],
  [
    "what is alike keeps its place by name, whatever its last digits",
    [
      listed("a", "running", { rate: 110, lag: 21 }),
      listed("B", "running", { rate: 480, lag: 84 }),
      listed("c", "running", { rate: 230, lag: 33 }),
    ],
  ],
  [
    "what is on its way stands among what runs",
    [
      listed("behind", "running", { lag_seconds: 700 }),
      listed("starts", "starting", null),
      listed("stopped", "stopped", null),
    ],
  ],
])("%s", (_, expected) => {
  expect(names(worstFirst([...expected].reverse()))).toEqual(names(expected));
  expect(names(worstFirst(expected))).toEqual(names(expected));
});

const some = [
  listed("Word count", "running", { rate: 5, lag: 2 }, "texts"),
  listed("Late words", "running", { rate: 7, lag: 400, lag_seconds: 61 }, "texts"),
  listed("Fraud", "failed", { rate: 100, lag: 30 }, "money"),
  listed("Old", "stopped", null),
];

test.each([
  ["all", "", ["Word count", "Late words", "Fraud", "Old"]],
  ["trouble", "", ["Late words", "Fraud"]],
  ["running", "", ["Word count", "Late words"]],
  ["stopped", "", ["Old"]],
  ["all", " WORD texts ", ["Word count", "Late words"]],
  ["trouble", "money", ["Fraud"]],
  ["all", "nothing", []],
] as const)("of %s with “%s”: %j", (shown, search, expected) =>
  expect(names(chosen(some, shown, search))).toEqual(expected),
);

test("only what runs adds to the rate, and all that waits to the lag", () => {
  expect(totals(some)).toEqual({ running: 2, trouble: 2, stopped: 1, rate: 12, lag: 432 });
});
