import { expect, test } from "vitest";
import type { TableOut } from "../api/client";
import { type Asked, asCurl, NOTHING_ASKED, queryOf, waysToAsk } from "./asked";

function table(...key: [string, string | null][]): TableOut {
  return {
    step: "counts",
    label: "Counts",
    key: key.map(([name, type]) => ({ name, type })),
    mode: "real_time",
    kept: "state",
    live: true,
  };
}

const WORDS = table(["word", "string"]);
const PER_HOUR = table(["window", "struct<start:timestamp,end:timestamp>"], ["user", "bigint"]);
const PAIRS = table(["user", "string"], ["n", "int"]);

test.each<[string, TableOut, Partial<Asked>, object]>([
  ["nothing", WORDS, {}, { limit: 100 }],
  ["a key", WORDS, { by: "key", key: { word: "to be" } }, { limit: 100, key: "to be" }],
  ["a key that is not typed yet", WORDS, { by: "key" }, { limit: 100 }],
  ["a prefix", WORDS, { by: "prefix", prefix: "t" }, { limit: 100, prefix: "t" }],
  ["what is committed", WORDS, { live: false }, { limit: 100, live: false }],
  [
    "a part of a key",
    PAIRS,
    { by: "key", key: { n: "3", user: "" } },
    { limit: 100, key: '{"n":"3"}' },
  ],
  ["a prefix of a number", PER_HOUR, { by: "prefix", prefix: "t" }, { limit: 100 }],
  ["another table's windows", WORDS, { from: "2026-01-01T12:00" }, { limit: 100 }],
])("of %s the query is made", (_, of, asked, query) => {
  expect(queryOf(of, { ...NOTHING_ASKED, ...asked })).toEqual(query);
});

test("windows are asked for by the clock of the browser", () => {
  const from = "2026-01-01T12:00";
  const query = queryOf(PER_HOUR, { ...NOTHING_ASKED, from });
  expect(query.from).toBe(new Date(2026, 0, 1, 12).toISOString());
});

test.each([
  [WORDS, ["all", "key", "prefix"]],
  [PER_HOUR, ["all", "key"]],
  [table(), ["all"]],
  [table(["window", null]), ["all"]],
])("a table of the key %j can be asked by it", (of, ways) => {
  expect(waysToAsk(of)).toEqual(ways);
});

test("no key ends the command early", () => {
  const command = asCurl("https://h", "d", "counts", { key: "it's; rm $HOME" });
  expect(command).toBe(
    `curl -H "Authorization: Bearer $HEADRACE_TOKEN" ` +
      `'https://h/api/deployments/d/state/counts?key=it%27s%3B+rm+%24HOME'`,
  );
});
