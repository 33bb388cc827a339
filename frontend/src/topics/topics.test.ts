import { expect, test } from "vitest";
import type { RecordOut } from "../api/client";
import { keptFor } from "./keptFor";
import { readHeaders } from "./readHeaders";
import { grown, MOST_KEPT, NOTHING } from "./useTail";
import { queryOf } from "./useTopic";

test.each([
  [604_800_000, { unit: "days", count: 7 }],
  [3_600_000, { unit: "hours", count: 1 }],
  [5_400_000, { unit: "minutes", count: 90 }],
  [1_500, { unit: "seconds", count: 1.5 }],
  [-1, null],
])("%d ms are kept so", (ms, said) => expect(keptFor(ms)).toEqual(said));

test.each([
  ["", {}],
  ["trace: 7\n\n source : a: b ", { trace: "7", source: "a: b" }],
  ["empty:", { empty: "" }],
  ["no colon", null],
  [": nameless", null],
])("headers %j", (text, headers) => expect(readHeaders(text)).toEqual(headers));

function came(first: number, last: number, passed_over = 0) {
  const items = Array.from({ length: last - first }, (_, n) => ({ offset: last - n }) as RecordOut);
  return { items, passed_over, scanned: 0, more: false, before: null, after: "" };
}

test("a tail has the newest first, and no more than it keeps", () => {
  const once = grown(NOTHING, came(0, 3));
  const twice = grown(once, came(3, 5, 4));
  expect(twice.rows.map(({ offset }) => offset)).toEqual([5, 4, 3, 2, 1]);
  expect(twice.passedOver).toBe(4);
  expect(grown(twice, came(5, 5))).toBe(twice);
  const long = grown(twice, came(5, 5 + MOST_KEPT));
  expect([long.rows.length, long.rows.at(-1)?.offset]).toEqual([MOST_KEPT, 6]);
});

test("what came after an error takes the error away", () => {
  expect(grown({ ...NOTHING, error: "away" }, came(0, 0)).error).toBeNull();
});

test("what is empty is not asked for", () => {
  expect(queryOf({ key: "", search: "", partition: null })).toEqual({ search: "" });
  expect(queryOf({ key: "k", search: "x", partition: 0 })).toMatchObject({
    key: "k",
    partition: 0,
  });
});
