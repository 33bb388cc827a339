// @vitest-environment jsdom
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import { type ConnectionOut, createConnection, updateConnection } from "../api/client";
import { ApiError } from "../api/session";
import { ConnectionForm } from "./ConnectionForm";

vi.mock("../api/client", () => ({ createConnection: vi.fn(), updateConnection: vi.fn() }));

const PROD: ConnectionOut = {
  id: "1",
  name: "prod",
  type: "kafka",
  bootstrap_servers: "a:9093",
  settings: { security_protocol: "SASL_SSL", sasl_mechanism: "PLAIN", username: "ada" },
  secrets: ["password"],
  updated_at: "2026-01-31T12:00:00Z",
};

function show(connection?: ConnectionOut) {
  const onClose = vi.fn();
  render(
    <QueryClientProvider client={new QueryClient()}>
      <MantineProvider env="test">
        <ConnectionForm connection={connection} onClose={onClose} />
      </MantineProvider>
    </QueryClientProvider>,
  );
  return onClose;
}

async function choose(label: string, option: string) {
  await userEvent.click(screen.getByRole("combobox", { name: label }));
  await userEvent.click(await screen.findByRole("option", { name: option }));
}

beforeEach(() => vi.clearAllMocks());

test("a cluster that wants a password is given one, and it is sent among the secrets", async () => {
  const onClose = show();
  await userEvent.type(screen.getByRole("textbox", { name: "Name" }), "prod");
  await userEvent.type(screen.getByRole("textbox", { name: "Bootstrap servers" }), "a:9093");
  expect(screen.queryByLabelText(/^Password/)).toBeNull();
  await choose("Security", "SASL_SSL");
  await userEvent.type(screen.getByRole("textbox", { name: "User name" }), "ada");
  await userEvent.type(screen.getByLabelText(/^Password/), "hidden");
  await userEvent.click(screen.getByRole("button", { name: "Add" }));
  expect(createConnection).toHaveBeenCalledWith({
    body: {
      name: "prod",
      type: "kafka",
      bootstrap_servers: "a:9093",
      settings: {
        security_protocol: "SASL_SSL",
        sasl_mechanism: "SCRAM-SHA-512",
        username: "ada",
      },
      secrets: { password: "hidden" },
    },
  });
  expect(onClose).toHaveBeenCalled();
});

test("a secret that is set is not shown, and stays where nothing is written", async () => {
  show(PROD);
  const password = screen.getByLabelText(/^Password/);
  expect(password).toHaveValue("");
  expect(password).toHaveAccessibleDescription("It is set. Leave it empty to keep it.");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(vi.mocked(updateConnection).mock.calls[0]?.[0].body.secrets).toEqual({});
});

test("what the server objects to stands under its field", async () => {
  const problems = [
    { step: null, field: "settings.username", severity: "error", message: "Nobody is called so." },
  ];
  vi.mocked(updateConnection).mockRejectedValue(
    new ApiError(422, { problems }, "The connection has 1 problem to solve first."),
  );
  const onClose = show(PROD);
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  const name = await screen.findByRole("textbox", { name: "User name" });
  expect(name).toBeInvalid();
  expect(screen.getByText("Nobody is called so.")).toBeInTheDocument();
  expect(onClose).not.toHaveBeenCalled();
});
