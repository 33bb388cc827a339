import { expect, test } from "vitest";
import type { Step } from "../api/graph";
import { stepsWithLetters } from "./stepsWithLetters";
import { valueFaults } from "./valueFaults";

const COLUMNS = {
  s: "string",
  i: "int",
  l: "BIGINT",
  d: "double",
  c: "decimal(10,2)",
  b: "boolean",
  t: "timestamp",
  a: "array<string>",
  o: "struct<x:int>",
};

function source(config: object = {}): Step {
  const columns = Object.entries(COLUMNS).map(([name, type]) => ({ name, type }));
  return { id: "orders", type: "kafka_source", config: { columns, ...config } };
}

test.each([
  ['{"s":"x","i":1,"l":9007199254740993,"d":1.5,"c":2,"b":true,"t":"2026-01-31T12:00:00Z"}', []],
  ['{"a":["x"],"o":{"x":1},"unknown":[1]}', []],
  ['{"s":7,"i":null}', []],
  ['{"i":"7"}', ["i int text"]],
  ['{"i":1.5,"l":true}', ["i int fraction", "l BIGINT boolean"]],
  ['{"d":"much","c":[1]}', ["d double text", "c decimal(10,2) list"]],
  ['{"b":"true","t":"yesterday"}', ["b boolean text", "t timestamp text"]],
  ['{"a":{"x":1},"o":"x"}', ["a array<string> object", "o struct<x:int> text"]],
])("of %s these columns don't fit: %j", (text, faults) => {
  const found = valueFaults(text, source());
  expect(found.map((f) => f.kind === "type" && `${f.column} ${f.declared} ${f.found}`)).toEqual(
    faults,
  );
});

test.each([
  ["{oops", "notJson"],
  ["", "notJson"],
  ["[1]", "noObject"],
  ["null", "noObject"],
  ['"text"', "noObject"],
])("%s is no record", (text, kind) => {
  expect(valueFaults(text, source()).map((fault) => fault.kind)).toEqual([kind]);
});

test("of a format without columns nothing is known", () => {
  expect(valueFaults("a,b", source({ format: "csv" }))).toEqual([]);
});

test.each([
  ["kafka_source", {}, true],
  ["kafka_table", { format: "csv" }, true],
  ["kafka_source", { format: "text" }, false],
  ["kafka_source", { on_bad_record: "skip" }, false],
  ["filter", {}, false],
])("a %s with %j puts records aside: %j", (type, config, does) => {
  const steps = [{ id: "a", type, config }];
  expect(stepsWithLetters(steps)).toEqual(does ? steps : []);
});
