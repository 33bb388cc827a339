// @vitest-environment jsdom
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { beforeEach, expect, test, vi } from "vitest";
import { createEnvironment, deleteEnvironment, updateEnvironment } from "../api/client";
import { ApiError } from "../api/session";
import { EnvironmentsPage } from "./EnvironmentsPage";

vi.mock("../api/client", () => ({
  createEnvironment: vi.fn(),
  updateEnvironment: vi.fn(),
  deleteEnvironment: vi.fn(),
}));

const PRODUCTION = {
  name: "production",
  connections: { local: "prod-kafka" },
  profile: {
    master: "spark://master:7077",
    cores: 12,
    driver_memory: "",
    executor_memory: "4g",
    conf: { "spark.network.timeout": "30s" },
  },
  masks: [],
  updated_at: "2026-01-31T12:00:00Z",
};
const SETTINGS = [{ name: "spark.network.timeout", takes: "a time such as 30s" }];

function show(mayChange: boolean) {
  const queries = new QueryClient({
    defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } },
  });
  queries.setQueryData(["me"], { username: "ada", may: { connections: mayChange } });
  queries.setQueryData(["connections"], { items: [{ id: "c", name: "prod-kafka" }], count: 1 });
  queries.setQueryData(["environments"], { items: [PRODUCTION], count: 1, settings: SETTINGS });
  render(
    <QueryClientProvider client={queries}>
      <MantineProvider env="test">
        <MemoryRouter>
          <EnvironmentsPage />
        </MemoryRouter>
      </MantineProvider>
    </QueryClientProvider>,
  );
}

beforeEach(() => vi.clearAllMocks());

test("whoever may only look reads what an environment means, and is offered nothing else", () => {
  show(false);
  const card = within(screen.getByRole("region", { name: "production" }));
  expect(card.getByText("local is prod-kafka")).toBeVisible();
  expect(card.getByText("spark://master:7077")).toBeVisible();
  expect(card.getByText("12")).toBeVisible();
  expect(card.getByText("4g")).toBeVisible();
  expect(card.queryByText("Driver memory")).toBeNull();
  expect(card.queryAllByRole("button")).toEqual([]);
  expect(screen.queryByRole("button", { name: "Add an environment" })).toBeNull();
});

test("what is refused stands at its field, and what was written is sent again", async () => {
  show(true);
  const problems = [
    { step: null, field: "master", severity: "error", message: "Write local[*]." },
    { step: null, field: "connections.here", severity: "error", message: "Not there." },
  ];
  vi.mocked(createEnvironment).mockRejectedValueOnce(
    new ApiError(422, { problems }, "It has 2 problems."),
  );
  await userEvent.click(screen.getByRole("button", { name: "Add an environment" }));
  await userEvent.type(screen.getByRole("textbox", { name: /^Name$/ }), "test");
  await userEvent.type(screen.getByRole("textbox", { name: "Master" }), "yarn");
  await userEvent.click(screen.getByRole("button", { name: "Add a connection" }));
  await userEvent.type(screen.getByRole("textbox", { name: "Name in pipelines" }), "here");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText("It has 2 problems.")).toBeVisible();
  expect(screen.getByRole("textbox", { name: "Master" })).toHaveAccessibleDescription(
    /Write local\[\*\]\./,
  );
  expect(screen.getByText("Not there.")).toBeVisible();

  await userEvent.click(screen.getByRole("button", { name: "Remove here" }));
  await userEvent.clear(screen.getByRole("textbox", { name: "Master" }));
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(vi.mocked(createEnvironment).mock.lastCall?.[0].body).toMatchObject({
    name: "test",
    connections: {},
    profile: { master: "", cores: null },
  });
});

test("an environment is changed under its own name, and deleted after a word of warning", async () => {
  show(true);
  await userEvent.click(screen.getByRole("button", { name: "Change production" }));
  expect(screen.getByRole("textbox", { name: /^Name$/ })).toBeDisabled();
  expect(screen.getByRole("combobox", { name: "Setting of Spark" })).toHaveValue(
    "spark.network.timeout",
  );
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  const { name, connections, profile, masks } = PRODUCTION;
  expect(updateEnvironment).toHaveBeenCalledWith({
    path: { name },
    body: { name, connections, profile, masks },
  });

  await userEvent.click(await screen.findByRole("button", { name: "Delete production" }));
  await userEvent.click(screen.getByRole("button", { name: "Delete" }));
  expect(deleteEnvironment).toHaveBeenCalledWith({ path: { name } });
});
