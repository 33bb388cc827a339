// @vitest-environment jsdom
import { expect, test } from "vitest";
import { afterLogin } from "./session";

test.each([
  ["", "/"],
  ["?next=%2Fpipelines%2F1%3Fa%3D2", "/pipelines/1?a=2"],
  ["?next=https%3A%2F%2Fevil.example%2Fx", "/"],
  ["?next=%2F%2Fevil.example", "/"],
  ["?next=javascript%3Aalert(1)", "/"],
])("%s leads to %s", (search, path) => expect(afterLogin(search)).toBe(path));
