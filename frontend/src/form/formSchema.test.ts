import { expect, test } from "vitest";
import { CATALOGUE } from "../api/testCatalogue";
import { fieldAt, formSchema, uiSchema } from "./formSchema";

const schemaOf = (type: string) => formSchema(CATALOGUE.get(type)?.schema ?? {});

test.each([...CATALOGUE.keys()])("%s needs no reference, union or default", (type) => {
  const text = JSON.stringify(schemaOf(type));
  expect(text).not.toContain("$ref");
  expect(text).not.toContain("anyOf");
  expect(text).not.toContain("oneOf");
  expect(text).not.toContain('"default"');
});

test("or null is left out, its format kept", () => {
  expect(schemaOf("kafka_sink").properties?.topic).toMatchObject({
    type: "string",
    format: "topic",
  });
});

test("a default is shown, not filled in", () => {
  expect(schemaOf("aggregate").properties?.grace).toMatchObject({ shownDefault: "10 minutes" });
});

test("formats choose the widgets, in the rows of lists too", () => {
  const ui = uiSchema(schemaOf("aggregate"));
  expect(ui.group_by).toMatchObject({ "ui:widget": "columns" });
  expect(ui.aggregations.items.expression).toMatchObject({
    "ui:widget": "expression",
    "ui:options": { label: false, "aria-label": "Of" },
  });
  expect(ui.window.kind).toMatchObject({ "ui:widget": "options" });
  expect(ui.window.size).toMatchObject({ "ui:widget": "duration" });
  expect(uiSchema(schemaOf("lookup_table")).from).toBeUndefined();
});

test.each([
  ["python_map", "code", "code"],
  ["python_processor", "code", "code"],
  ["python_processor", "time", "choice"],
  ["sql", "query", "sql"],
])("%s has for %s the widget %s", (type, field, widget) => {
  expect(uiSchema(schemaOf(type))[field]).toMatchObject({ "ui:widget": widget });
});

test("where to begin has a widget of its own", () => {
  expect(uiSchema(schemaOf("kafka_source")).start).toMatchObject({ "ui:widget": "start" });
});

test.each([
  ["aggregate", "aggregations.0.expression", "aggregations.0.expression"],
  ["aggregate", "window.size", "window.size"],
  ["kafka_source", "topics.1", "topics"],
  ["aggregate", "group_by.2", "group_by"],
  ["kafka_source", "start.timestamp", "start"],
  ["filter", "rows", null],
  ["filter", "edges", null],
])("a problem at %s %s stands under %s", (type, path, field) => {
  expect(fieldAt(schemaOf(type), path)).toBe(field);
});
