import { expect, test } from "vitest";
import { count, rate, short } from "./count";
import { ago } from "./RelativeTime";
import { span } from "./span";

test.each([
  [0, "0"],
  [999, "999"],
  [1000, "1\u202f000"],
  [412880, "412\u202f880"],
  [1234567, "1\u202f234\u202f567"],
])("count %d", (n, text) => expect(count(n)).toBe(text));

test.each([
  [0, "0"],
  [0.254, "0.25"],
  [3, "3"],
  [9.96, "10"],
  [12.34, "12.3"],
  [999, "999"],
  [1000, "1k"],
  [1234, "1.2k"],
  [9100, "9.1k"],
  [123456, "123k"],
  [999_960, "1M"],
  [2_400_000, "2.4M"],
  [7.5e9, "7.5G"],
])("short %d", (n, text) => expect(short(n)).toBe(text));

test("a rate says per second", () => expect(rate(1234)).toBe("1.2k/s"));

test.each([
  [4, "4 ms"],
  [1400, "1.4 s"],
  [42_000, "42 s"],
  [180_000, "3 min"],
  [5_400_000, "1.5 h"],
])("span %d", (ms, text) => expect(span(ms)).toBe(text));

test.each([
  [2, "now"],
  [30, "30 seconds ago"],
  [60, "1 minute ago"],
  [3 * 3600 + 100, "3 hours ago"],
  [86_400, "yesterday"],
])("%d seconds ago", (seconds, text) => {
  const now = new Date("2026-11-21T12:00:00Z");
  expect(ago(new Date(now.getTime() - seconds * 1000), now)).toBe(text);
});
