import { expect, test } from "vitest";
import type { Metrics } from "../api/types";
import { newest } from "./newest";

function look(updated: number, counted: number | null = null) {
  const at = (minute: number) => `2026-11-22T05:${String(minute).padStart(2, "0")}:00Z`;
  const metrics = counted === null ? null : ({ at: at(counted) } as Metrics);
  return { updated_at: at(updated), metrics };
}

test.each([
  ["what was asked for, where nothing was told", null, look(1), "asked"],
  ["what was told, where nothing was asked for", look(1), null, "told"],
  ["what was told, where that has counted since", look(1, 9), look(1, 4), "told"],
  ["what was asked for, where that has counted since", look(1, 4), look(1, 9), "asked"],
  ["what was asked for, where it has changed since", look(1, 4), look(5, 4), "asked"],
  ["what was asked for, where both are as new", look(1, 4), look(1, 4), "asked"],
] as const)("%s", (_, told, asked, which) =>
  expect(newest<ReturnType<typeof look>>(told, asked, (one) => [one])).toBe(
    which === "told" ? told : asked,
  ),
);

test("of nothing there is no newest", () => expect(newest(null, null, () => [])).toBeNull());
