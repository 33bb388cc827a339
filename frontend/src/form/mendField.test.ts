import { expect, test } from "vitest";
import { CATALOGUE } from "../api/testCatalogue";
import { titleOf } from "./formSchema";
import { mendField } from "./mendField";

const schema = (type: string) => CATALOGUE.get(type)?.schema ?? {};

test.each([
  ["filter", { condition: "amont > 1" }, "condition", { condition: "amount > 1" }],
  [
    "aggregate",
    { group_by: ["user", "amont"], grace: "1 hour" },
    "group_by.1",
    { group_by: ["user", "amount"], grace: "1 hour" },
  ],
  [
    "select",
    {
      columns: [
        { name: "a", expression: "1" },
        { name: "b", expression: "amont + 1" },
      ],
    },
    "columns.1.expression",
    {
      columns: [
        { name: "a", expression: "1" },
        { name: "b", expression: "amount + 1" },
      ],
    },
  ],
  [
    "join",
    { on: [{ left: "amont", right: "amont" }] },
    "on.0.left",
    { on: [{ left: "amount", right: "amont" }] },
  ],
  ["filter", { condition: "amount > 1" }, "condition", null],
  ["filter", {}, "rows", null],
])("in a %s with %j, %s is mended", (type, config, field, after) =>
  expect(mendField(schema(type), config, field, "amont", "amount")).toEqual(after),
);

test.each([
  ["filter", "condition", "Condition"],
  ["aggregate", "group_by.2", "Group by"],
  ["select", "columns.1.expression", "Columns 2 · Expression"],
  ["aggregate", "window.size", "Window · Size"],
  ["filter", "rows", "rows"],
])("%s %s is called %s", (type, field, title) => expect(titleOf(schema(type), field)).toBe(title));
