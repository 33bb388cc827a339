import { expect, test } from "vitest";
import type { AlertOut } from "../api/client";
import { toLookAfter, worstFirst } from "./worstFirst";

const alert = (name: string, at: string, more: Partial<AlertOut> = {}) =>
  ({
    name,
    severity: "warning",
    began_at: at,
    acknowledged_at: null,
    silenced_until: null,
    ...more,
  }) as AlertOut;

const ALERTS = [
  alert("known", "01", { severity: "critical", acknowledged_at: "02" }),
  alert("silenced", "02", { silenced_until: "09" }),
  alert("later", "04"),
  alert("critical", "05", { severity: "critical" }),
  alert("earlier", "03"),
];

test("what nobody looks after comes first, what is critical before the rest, then by age", () => {
  const names = worstFirst(ALERTS).map(({ name }) => name);
  expect(names).toEqual(["critical", "earlier", "later", "known", "silenced"]);
});

test("what is silenced or acknowledged needs nobody else", () => {
  expect(toLookAfter(ALERTS).map(({ name }) => name)).toEqual(["later", "critical", "earlier"]);
});
