// @vitest-environment jsdom
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { beforeEach, expect, test, vi } from "vitest";
import { type AlertOut, acknowledgeAlert, createSilence } from "../api/client";
import { AlertBadge } from "./AlertBadge";
import { OpenAlerts } from "./OpenAlerts";

vi.mock("../api/client", () => ({
  acknowledgeAlert: vi.fn(),
  createSilence: vi.fn(),
  listAlerts: vi.fn(),
}));

const FAILED: AlertOut = {
  id: "a",
  rule: "r",
  name: "Failed",
  measure: "failed",
  severity: "critical",
  message: "word-count: it failed at Reviews",
  value: 1,
  threshold: null,
  step: "lines",
  deployment: { id: "d", environment: "default" },
  pipeline: { id: "p", name: "word-count", slug: "word-count", folder: "" },
  began_at: "2026-11-21T12:00:00Z",
  ended_at: null,
  acknowledged_at: null,
  acknowledged_by: null,
  silenced_until: null,
  notifications: [
    {
      id: "n",
      channel: "webhook",
      about: "began",
      state: "failed",
      attempts: 4,
      message: "failed 4 times: timed out",
      created_at: "2026-11-21T12:00:00Z",
    },
  ],
};
const SILENCED: AlertOut = {
  ...FAILED,
  id: "b",
  severity: "warning",
  name: "Falls behind",
  message: "views: 9 records wait",
  silenced_until: "2026-11-21T18:00:00Z",
  acknowledged_at: "2026-11-21T12:10:00Z",
  acknowledged_by: "olga",
  notifications: [],
};

function show(role: "viewer" | "operator") {
  const queries = new QueryClient({
    defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } },
  });
  const held = { role, folder: null, pipeline: null };
  queries.setQueryData(["me"], { username: "ada", may: {}, roles: [held] });
  queries.setQueryData(["alerts", "open"], { items: [SILENCED, FAILED], count: 2 });
  render(
    <QueryClientProvider client={queries}>
      <MantineProvider env="test">
        <MemoryRouter>
          <AlertBadge />
          <OpenAlerts />
        </MemoryRouter>
      </MantineProvider>
    </QueryClientProvider>,
  );
  const items = screen.getAllByTestId("alert");
  return { first: within(items[0] as HTMLElement), second: within(items[1] as HTMLElement) };
}

beforeEach(() => vi.clearAllMocks());

test("what waits for somebody comes first, and is all that the badge counts", () => {
  const { first, second } = show("viewer");
  expect(first.getByText("Critical")).toBeVisible();
  expect(first.getByRole("link", { name: FAILED.message })).toHaveAttribute(
    "href",
    "/deployments/d",
  );
  expect(first.getByText("webhook: failed 4 times: timed out")).toBeVisible();
  expect(second.getByText(/^olga looks after it/)).toBeVisible();
  expect(second.getByText(/^silenced until/)).toBeVisible();
  expect(screen.getByTestId("alert-badge")).toHaveTextContent("1 alert, 1 of them critical");
  expect(screen.queryAllByRole("button")).toEqual([]);
});

test("who operates looks after one, or silences it for a while", async () => {
  const { first, second } = show("operator");
  expect(second.queryByRole("button", { name: /^I look after it/ })).toBeNull();
  await userEvent.click(first.getByRole("button", { name: /^I look after it/ }));
  expect(acknowledgeAlert).toHaveBeenCalledWith({ path: { alert_id: "a" } });

  await userEvent.click(first.getByRole("button", { name: /^Silence: / }));
  await userEvent.type(screen.getByRole("textbox", { name: "Why" }), "We move");
  const before = Date.now();
  await userEvent.click(screen.getByRole("button", { name: "Silence" }));
  const body = vi.mocked(createSilence).mock.lastCall?.[0].body;
  expect(body).toMatchObject({ deployment: "d", rule: "r", comment: "We move" });
  expect(Math.abs(Date.parse(body?.until ?? "") - before - 3_600_000)).toBeLessThan(60_000);
});
