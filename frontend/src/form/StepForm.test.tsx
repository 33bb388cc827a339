// @vitest-environment jsdom
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test, vi } from "vitest";
import type { Config, Kind } from "../api/graph";
import type { StepType } from "../api/stepTypes";
import { CATALOGUE } from "../api/testCatalogue";
import type { Problem } from "../api/types";
import { StepForm } from "./StepForm";

// CodeMirror needs a browser that lays out text; what it is given is tested beside it.
vi.mock("./widgets/SqlEditor", () => import("./widgets/testEditor"));
vi.mock("./widgets/CodeEditor", () => import("./widgets/testEditor"));
vi.mock("../connections/useConnections", () => ({
  useConnections: () => ({
    data: {
      items: [
        { id: "1", name: "local", type: "kafka" },
        { id: "2", name: "other", type: "kafka" },
        { id: "3", name: "shop", type: "postgresql" },
      ],
    },
  }),
  useTopics: (id?: string) => ({
    data: { items: id === "1" ? [{ topic: "page-views", partitions: 3 }] : [] },
  }),
}));

interface HeldProps {
  type: StepType;
  first: Config;
  problems: Problem[];
  kinds: Record<string, Kind>;
  onConfig: (config: Config) => void;
}

function Held({ type, first, problems, kinds, onConfig }: HeldProps) {
  const [config, setConfig] = useState(first);
  return (
    <StepForm
      type={type}
      config={config}
      problems={problems}
      context={{ columns: COLUMNS, byPort: {}, kinds }}
      onChange={(next) => {
        onConfig(next);
        setConfig(next);
      }}
    />
  );
}

const FUNCTIONS = [
  {
    name: "sum",
    signature: "sum(expr)",
    summary: "Returns the sum.",
    group: "agg_funcs",
    example: null,
  },
];

const COLUMNS = [
  { name: "_key", type: "string" },
  { name: "product", type: "string" },
];

/** Show a step's form; `config` of what is answered is what it holds now. */
function form(
  typeName: string,
  first: Config,
  problems: Problem[] = [],
  kinds: Record<string, Kind> = {},
) {
  const type = CATALOGUE.get(typeName);
  if (!type) throw new Error(`There is no ${typeName}.`);
  const seen = { config: first };
  const onConfig = (config: Config) => {
    seen.config = config;
  };
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  client.setQueryData(["functions"], FUNCTIONS);
  render(
    <QueryClientProvider client={client}>
      <MantineProvider env="test">
        <Held type={type} first={first} problems={problems} kinds={kinds} onConfig={onConfig} />
      </MantineProvider>
    </QueryClientProvider>,
  );
  return seen;
}

test("opening a form changes nothing: defaults are shown, not written", async () => {
  const seen = form("aggregate", { aggregations: [{ name: "n" }] });
  expect(await screen.findByRole("combobox", { name: "Window" })).toHaveValue("none");
  expect(seen.config).toEqual({ aggregations: [{ name: "n" }] });
});

test("an expression is written as it is typed, and left out when emptied", async () => {
  const seen = form("filter", {});
  const editor = await screen.findByRole("textbox", { name: "Condition" });
  await userEvent.type(editor, "a > 1");
  expect(seen.config).toEqual({ condition: "a > 1" });
  await userEvent.clear(editor);
  expect(seen.config).toEqual({});
});

test("a list of objects grows and shrinks by rows", async () => {
  const seen = form("kafka_source", { connection: "local" });
  await userEvent.click(screen.getByRole("button", { name: "Add to Columns" }));
  await userEvent.type(screen.getByRole("textbox", { name: "Name" }), "user");
  expect(seen.config.columns).toEqual([{ name: "user" }]);
  await userEvent.click(screen.getByRole("button", { name: "Remove row 1" }));
  expect(seen.config).toEqual({ connection: "local" });
});

test("columns are picked from what flows in, its own columns first", async () => {
  const seen = form("aggregate", {});
  await userEvent.click(screen.getByRole("combobox", { name: "Group by" }));
  const options = await screen.findAllByRole("option");
  expect(options.map((option) => option.textContent)).toEqual(["productstring", "_keystring"]);
  await userEvent.click(options[0] as HTMLElement);
  expect(seen.config).toEqual({ group_by: ["product"] });
});

test("topics come from the connection that the step names", async () => {
  const seen = form("kafka_source", { connection: "local" });
  await userEvent.click(screen.getByRole("combobox", { name: "Topics" }));
  await userEvent.click(await screen.findByRole("option", { name: "page-views 3 partitions" }));
  expect(seen.config.topics).toEqual(["page-views"]);
});

test("a choice is written in the words of the schema", async () => {
  const seen = form("kafka_source", { connection: "local" });
  await userEvent.click(screen.getByRole("radio", { name: "text" }));
  expect(seen.config.format).toBe("text");
});

async function chooseWindow(kind: string) {
  await userEvent.click(screen.getByRole("combobox", { name: "Window" }));
  await userEvent.click(await screen.findByRole("option", { name: kind }));
}

test.each([
  ["none", []],
  ["tumbling", ["Size", "Time", "Grace"]],
  ["hopping", ["Size", "Advance", "Time", "Grace"]],
  ["sliding", ["Size", "Time", "Grace"]],
  ["session", ["Gap", "Time", "Grace"]],
])("of a window of kind %s, what it has is shown: %j", async (kind, fields) => {
  form("aggregate", { window: { kind } });
  expect(await screen.findByRole("combobox", { name: "Window" })).toHaveValue(kind);
  const shown = ["Size", "Advance", "Gap", "Time", "Grace"].filter(
    (name) => screen.queryByRole("combobox", { name }) !== null,
  );
  expect(shown).toEqual(fields);
});

test("a choice takes along the fields that it makes meaningless", async () => {
  const seen = form("aggregate", {
    window: { kind: "hopping", size: "1 hour", advance: "1 minute" },
  });
  await chooseWindow("tumbling");
  expect(seen.config.window).toEqual({ kind: "tumbling", size: "1 hour" });
  await chooseWindow("session");
  expect(seen.config.window).toEqual({ kind: "session" });
});

test.each([
  [{}, true],
  [{ left: "stream" }, true],
  [{ left: "stream", right: "stream" }, true],
  [{ left: "stream", right: "table" }, false],
  [{ left: "table", right: "table" }, false],
  [{ left: "stream", right: "lookup" }, false],
] as [Record<string, Kind>, boolean][])(
  "a join of %j asks how far apart in time: %s",
  (kinds, asks) => {
    form("join", {}, [], kinds);
    expect(screen.queryByRole("combobox", { name: "Before" }) !== null).toBe(asks);
    expect(screen.queryByRole("combobox", { name: "Grace" }) !== null).toBe(asks);
    expect(screen.getByText("Prefixes")).toBeVisible();
  },
);

test("code is kept as it is typed, and begins with the schema's example", async () => {
  const seen = form("python_map", {});
  await userEvent.click(screen.getByRole("button", { name: "Begin with the example" }));
  expect(seen.config.code).toBe("def twice(row):\n    return {'x': row['x'] * 2}\n");
  expect(screen.queryByRole("button", { name: "Begin with the example" })).toBeNull();
  const editor = await screen.findByRole("textbox", { name: "Code" });
  await userEvent.type(editor, "  # end{enter}");
  expect(seen.config.code).toMatch(/ {2}# end\n$/);
});

test("a query is written as it is typed", async () => {
  const seen = form("sql", {});
  await userEvent.type(await screen.findByRole("textbox", { name: "Query" }), "select 1");
  expect(seen.config).toEqual({ query: "select 1" });
});

test("the key of a step that reads rows is chosen from what flows in", async () => {
  form("to_table", {});
  await userEvent.click(screen.getByRole("combobox", { name: "Key" }));
  expect(await screen.findAllByRole("option")).toHaveLength(2);
});

test("a problem with an object as a whole stands under its fields", () => {
  form("aggregate", { window: { kind: "tumbling" }, aggregations: [{ function: "sum" }] }, [
    { step: "s", field: "window", severity: "error", message: "It needs a size." },
    { step: "s", field: "aggregations.0", severity: "error", message: "Say of what." },
  ]);
  expect(screen.getByText("It needs a size.")).toBeVisible();
  expect(screen.getByText("Say of what.")).toBeVisible();
});

test.each([...CATALOGUE.keys()])("%s has a form that opens", (type) => {
  expect(form(type, {}).config).toEqual({});
});

test("a problem stands under its field", () => {
  form("kafka_sink", { connection: "local" }, [
    { step: "s", field: "topic", severity: "error", message: "Name the topic." },
  ]);
  const field = document.querySelector('[data-field="topic"]') as HTMLElement;
  expect(within(field).getByText("Name the topic.")).toBeVisible();
  expect(screen.getByRole("combobox", { name: "Topic" })).toHaveAttribute("aria-invalid", "true");
});

test("what was perhaps meant takes the place of what is wrong", async () => {
  const message = "There is no column amont. Did you mean amount?";
  const wrong = (field: string): Problem => ({ step: "s", field, severity: "error", message });
  const filter = form("filter", { condition: "amont > 1 and x <> 'amont'" }, [wrong("condition")]);
  await userEvent.click(screen.getByRole("button", { name: "Use amount" }));
  expect(filter.config).toEqual({ condition: "amount > 1 and x <> 'amont'" });
});

test("a wrong name among several columns is replaced, the others stay", async () => {
  const message = "There is no column amont. Did you mean unit price?";
  const problem: Problem = { step: "s", field: "group_by.1", severity: "error", message };
  const seen = form("aggregate", { group_by: ["user", "amont"] }, [problem]);
  await userEvent.click(screen.getByRole("button", { name: "Use unit price" }));
  expect(seen.config).toEqual({ group_by: ["user", "unit price"] });
});

test("no suggestion is offered for a name that has been mended by hand", () => {
  const message = "There is no column amont. Did you mean amount?";
  form("filter", { condition: "amount > 1" }, [
    { step: "s", field: "condition", severity: "error", message },
  ]);
  expect(screen.getByText(/There is no column amont/)).toBeVisible();
  expect(screen.queryByRole("button", { name: "Use amount" })).toBeNull();
});

test("a chosen column shows its type; one that does not flow in is marked and kept", () => {
  form("aggregate", { group_by: ["product", "gone"] });
  const field = document.querySelector('[data-field="group_by"]') as HTMLElement;
  expect(within(field).getByText("product").parentElement).toHaveTextContent("productstring");
  expect(within(field).getByText("gone")).toBeVisible();
  expect(within(field).getAllByLabelText("No such column flows in")).toHaveLength(1);
});

test("an aggregation's function says what it does", async () => {
  form("aggregate", { aggregations: [{ name: "n" }] });
  await userEvent.click(screen.getByRole("combobox", { name: "Function" }));
  expect(await screen.findByText("Returns the sum.")).toBeVisible();
});

test("columns are looked for in a topic once it is named", () => {
  form("kafka_source", { connection: "local" });
  expect(screen.getByRole("button", { name: "Infer columns…" })).toBeDisabled();
});
