// @vitest-environment jsdom
import { MantineProvider } from "@mantine/core";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test, vi } from "vitest";
import type { Config } from "../api/graph";
import type { StepType } from "../api/stepTypes";
import { CATALOGUE } from "../api/testCatalogue";
import type { Problem } from "../api/types";
import { StepForm } from "./StepForm";

// CodeMirror needs a browser that lays out text; what it is given is tested beside it.
vi.mock("./widgets/SqlEditor", () => ({
  default: ({
    label,
    value,
    onChange,
  }: {
    label: string;
    value: string;
    onChange: (v: string) => void;
  }) => <textarea aria-label={label} value={value} onChange={(e) => onChange(e.target.value)} />,
}));
vi.mock("../connections/useConnections", () => ({
  useConnections: () => ({
    data: {
      items: [
        { id: "1", name: "local" },
        { id: "2", name: "other" },
      ],
    },
  }),
  useTopics: (id?: string) => ({ data: { items: id === "1" ? [{ topic: "page-views" }] : [] } }),
}));

interface HeldProps {
  type: StepType;
  first: Config;
  problems: Problem[];
  onConfig: (config: Config) => void;
}

function Held({ type, first, problems, onConfig }: HeldProps) {
  const [config, setConfig] = useState(first);
  return (
    <StepForm
      type={type}
      config={config}
      problems={problems}
      context={{ columns: COLUMNS, byPort: {} }}
      onChange={(next) => {
        onConfig(next);
        setConfig(next);
      }}
    />
  );
}

const COLUMNS = [
  { name: "_key", type: "string" },
  { name: "product", type: "string" },
];

/** Show a step's form; `config` of what is answered is what it holds now. */
function form(typeName: string, first: Config, problems: Problem[] = []) {
  const type = CATALOGUE.get(typeName);
  if (!type) throw new Error(`There is no ${typeName}.`);
  const seen = { config: first };
  const onConfig = (config: Config) => {
    seen.config = config;
  };
  render(
    <MantineProvider env="test">
      <Held type={type} first={first} problems={problems} onConfig={onConfig} />
    </MantineProvider>,
  );
  return seen;
}

test("opening a form changes nothing: defaults are shown, not written", async () => {
  const seen = form("aggregate", { aggregations: [{ name: "n" }] });
  expect(await screen.findByRole("radio", { name: "none" })).toBeChecked();
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
  await userEvent.click(await screen.findByRole("option", { name: "page-views" }));
  expect(seen.config.topics).toEqual(["page-views"]);
});

test("a choice is written in the words of the schema", async () => {
  const seen = form("kafka_source", { connection: "local" });
  await userEvent.click(screen.getByRole("radio", { name: "text" }));
  expect(seen.config.format).toBe("text");
});

test("fields that mean nothing yet are not shown", async () => {
  form("aggregate", {});
  expect(screen.queryByText("Advance")).toBeNull();
  await userEvent.click(screen.getByRole("radio", { name: "hopping" }));
  expect(await screen.findByRole("combobox", { name: "Advance" })).toBeVisible();
});

test("a problem stands under its field", () => {
  form("kafka_sink", { connection: "local" }, [
    { step: "s", field: "topic", severity: "error", message: "Name the topic." },
  ]);
  const field = document.querySelector('[data-field="topic"]') as HTMLElement;
  expect(within(field).getByText("Name the topic.")).toBeVisible();
  expect(screen.getByRole("combobox", { name: "Topic" })).toHaveAttribute("aria-invalid", "true");
});
