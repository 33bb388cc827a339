import { expect, test } from "vitest";
import { hexDump } from "./hexDump";
import { pretty } from "./pretty";

test.each([
  ['{"a":1,"b":[true,null]}', '{\n  "a": 1,\n  "b": [\n    true,\n    null\n  ]\n}'],
  ['{ "a" : {} , "b": [ ] }', '{\n  "a": {},\n  "b": []\n}'],
  ['{"n":12345678901234567890,"x":1.50}', '{\n  "n": 12345678901234567890,\n  "x": 1.50\n}'],
  ['"a \\"quoted, {text}\\" "', '"a \\"quoted, {text}\\" "'],
  ['{"a{":"[ , ]"}', '{\n  "a{": "[ , ]"\n}'],
  ["  7 ", "7"],
  ["{oops", null],
  ["", null],
])("%s is set out", (text, lines) => expect(pretty(text)).toBe(lines));

test("what is set out says the same", () => {
  const value = { a: [1, { b: 'x\n"y"', c: [[], {}] }], ü: "\u2028", e: 1e-7 };
  expect(JSON.parse(pretty(JSON.stringify(value)) ?? "")).toEqual(value);
});

test.each([
  ["", ""],
  [btoa("A\xff\x00z"), `000000  41 ff 00 7a${" ".repeat(38)}A..z`],
])("bytes %j are shown as hex", (base64, lines) => expect(hexDump(base64)).toBe(lines));

test("sixteen bytes are a line", () => {
  const lines = hexDump(btoa("0123456789abcdefg")).split("\n");
  expect(lines.map((line) => line.slice(0, 6))).toEqual(["000000", "000010"]);
  expect(lines[0]).toMatch(/66 {2}0123456789abcdef$/);
});
