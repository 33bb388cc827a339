import { CompletionContext } from "@codemirror/autocomplete";
import { EditorState } from "@codemirror/state";
import { expect, test } from "vitest";
import { prune } from "../prune";
import { completeSql, quoted } from "./completeSql";
import { offers } from "./DurationWidget";

function labels(text: string, explicit = false) {
  const state = EditorState.create({ doc: text });
  const complete = completeSql([
    { name: "product", type: "string" },
    { name: "unit price", type: "double" },
  ]);
  return complete(new CompletionContext(state, text.length, explicit));
}

test("columns and functions are offered for the word being typed", () => {
  const found = labels("lower(pro");
  expect(found?.from).toBe(6);
  expect(found?.options.find((o) => o.label === "product")).toMatchObject({ detail: "string" });
  expect(found?.options.find((o) => o.label === "split")).toMatchObject({
    detail: "(text, pattern)",
  });
});

test("nothing is offered after a blank unless asked for", () => {
  expect(labels("a > ")).toBeNull();
  expect(labels("a > ", true)?.options.length).toBeGreaterThan(10);
});

test.each([
  ["product", "product"],
  ["unit price", "`unit price`"],
  ["a`b", "`a``b`"],
])("%s is written %s", (name, text) => expect(quoted(name)).toBe(text));

test.each([
  ["1", ["1 second", "1 minute", "1 hour", "1 day"]],
  ["30 m", ["30 minutes"]],
  ["nonsense", []],
])("for %s a duration offers %j", (typed, offered) => expect(offers(typed)).toEqual(offered));

test.each([
  [{ a: "", b: undefined, c: null, d: [] }, {}],
  [
    { a: 0, b: false },
    { a: 0, b: false },
  ],
  [{ w: { kind: "none", size: "" } }, { w: { kind: "none" } }],
  [{ w: { size: "" } }, {}],
  [{ l: [{}, { name: "" }] }, { l: [{}, {}] }],
])("%j is kept as %j", (config, kept) => expect(prune(config)).toEqual(kept));
