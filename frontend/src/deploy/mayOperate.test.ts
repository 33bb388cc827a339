import { expect, test } from "vitest";
import type { Held } from "../api/client";
import { mayOperate } from "./mayOperate";

const sales = { id: "p", folder: "sales" };

function held(role: Held["role"], on: Partial<Held> = {}): Held {
  return { role, folder: null, pipeline: null, ...on };
}

test.each<[string, Held[], boolean]>([
  ["nothing", [], false],
  ["operator on everything", [held("operator")], true],
  ["admin on everything", [held("admin")], true],
  ["editor and viewer on everything", [held("editor"), held("viewer")], false],
  ["operator on its folder", [held("operator", { folder: "sales" })], true],
  ["operator on another folder", [held("operator", { folder: "stock" })], false],
  ["operator on it", [held("operator", { pipeline: "p" })], true],
  ["operator on another", [held("operator", { pipeline: "q" })], false],
  ["one of several", [held("viewer"), held("operator", { pipeline: "p" })], true],
])("with %s one may: %s %s", (_, roles, may) => {
  expect(mayOperate({ roles }, sales)).toBe(may);
});

test("a superuser may without any role", () => {
  expect(mayOperate({ superuser: true }, sales)).toBe(true);
});

test("a pipeline without a folder is not in the folder of others", () => {
  const roles = [held("operator", { folder: "sales" })];
  expect(mayOperate({ roles }, { id: "p", folder: "" })).toBe(false);
});
