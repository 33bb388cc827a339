import { CompletionContext } from "@codemirror/autocomplete";
import { EditorState } from "@codemirror/state";
import { expect, test } from "vitest";
import { prune } from "../prune";
import { completeSql } from "./completeSql";
import { offers } from "./DurationWidget";
import { neededArguments } from "./functions";
import { fieldsOf } from "./structFields";

const FUNCTIONS = [
  {
    name: "split",
    signature: "split(str, regex, limit)",
    summary: "Splits str.",
    group: "string_funcs",
    example: null,
  },
];

function found(text: string, explicit = false) {
  const state = EditorState.create({ doc: text });
  const complete = completeSql(() => ({
    columns: [
      { name: "product", type: "string" },
      { name: "unit price", type: "double" },
      { name: "user", type: "struct<name:string,`home town`:struct<city:string>>" },
      { name: "_key", type: "string" },
    ],
    functions: FUNCTIONS,
    inputs: text.startsWith("select") ? { rows: [{ name: "id", type: "int" }] } : undefined,
  }));
  return complete(new CompletionContext(state, text.length, explicit));
}

test("columns and functions are offered for the word being typed", () => {
  const options = found("lower(pro")?.options ?? [];
  expect(found("lower(pro")?.from).toBe(6);
  const boost = (name: string) => options.find((o) => o.label === name)?.boost ?? 0;
  expect(options.find((o) => o.label === "product")).toMatchObject({ detail: "string" });
  expect(options.find((o) => o.label === "split")).toMatchObject({ detail: "(str, regex, limit)" });
  expect(boost("product")).toBeGreaterThan(boost("split"));
  expect(boost("split")).toBeGreaterThan(boost("_key"));
});

test("nothing is offered after a blank unless asked for, nor inside of a text", () => {
  expect(found("a > ")).toBeNull();
  expect(found("a > ", true)?.options.length).toBeGreaterThan(10);
  expect(found("a > 'pro", true)).toBeNull();
});

test.each([
  ["user.", ["name", "home town"]],
  ["lower(user.na", ["name", "home town"]],
  ["user.`home town`.", ["city"]],
  ["select r. from rows r".slice(0, 9), null],
  ["select rows.", ["id"]],
  ["product.", null],
])("behind %s stand %j", (text, names) =>
  expect(found(text)?.options.map(({ label }) => label) ?? null).toEqual(names),
);

test.each([
  ["array<struct<a:int,b:map<string,int>>>", ["a array<int>", "b array<map<string,int>>"]],
  ["struct<a:decimal(10,2),`x,y`:int>", ["a decimal(10,2)", "x,y int"]],
  ["string", []],
])("the fields of %s are %j", (type, fields) =>
  expect(fieldsOf(type).map((f) => `${f.name} ${f.type}`)).toEqual(fields),
);

test.each([
  ["substring(str, pos[, len])", ["str", "pos"]],
  ["concat(col1, col2, ..., colN)", ["col1", "col2", "colN"]],
  ["now()", []],
  ["try_cast(expr AS type)", ["expr AS type"]],
])("%s needs %j", (signature, names) => expect(neededArguments(signature)).toEqual(names));

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
