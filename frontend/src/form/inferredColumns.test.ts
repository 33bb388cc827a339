import { expect, test } from "vitest";
import { namedByPlace, proposals, withProposals } from "./inferredColumns";

const CONFIG = {
  connection: "local",
  columns: [
    { name: "User", type: "string" },
    { name: "amount", type: "decimal(9,2)" },
    { name: "old" },
    {},
  ],
};
const SAMPLED = [
  { name: "user", type: "string" },
  { name: "amount", type: "double" },
  { name: "at", type: "timestamp" },
];

test("what a sample has beside what is there", () => {
  expect(proposals(CONFIG, SAMPLED).map((p) => [p.name, p.state, p.was, p.taken])).toEqual([
    ["user", "same", "string", false],
    ["amount", "retyped", "decimal(9,2)", false],
    ["at", "new", null, true],
    ["old", "missing", "string", false],
  ]);
});

test("what is new goes to the end; nothing that is there is lost", () => {
  expect(withProposals(CONFIG, proposals(CONFIG, SAMPLED))).toEqual({
    connection: "local",
    columns: [
      { name: "User", type: "string" },
      { name: "amount", type: "decimal(9,2)" },
      { name: "old" },
      { name: "at", type: "timestamp" },
    ],
  });
});

test("a type is replaced where somebody asks for it", () => {
  const proposed = proposals(CONFIG, SAMPLED).map((p) => ({ ...p, taken: p.name === "amount" }));
  expect(withProposals(CONFIG, proposed).columns).toEqual([
    { name: "User", type: "string" },
    { name: "amount", type: "double" },
    { name: "old" },
  ]);
});

test("a sample without names takes those of the step, place by place", () => {
  const config = { columns: [{ name: "product", type: "string" }, { name: "" }] };
  const sampled = ["column1", "column2", "column3"].map((name) => ({ name, type: "bigint" }));
  expect(namedByPlace(config, sampled).map(({ name }) => name)).toEqual([
    "product",
    "column2",
    "column3",
  ]);
});
