// @vitest-environment jsdom
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { beforeEach, expect, test, vi } from "vitest";
import { createAlertRule, type RuleOut, testAlertRule, updateAlertRule } from "../api/client";
import { ApiError } from "../api/session";
import { AlertRules } from "./AlertRules";

vi.mock("../api/client", () => ({
  createAlertRule: vi.fn(),
  updateAlertRule: vi.fn(),
  deleteAlertRule: vi.fn(),
  testAlertRule: vi.fn(),
  listAlertRules: vi.fn(() => new Promise(() => {})),
}));

const MEASURES = [
  { name: "failed", unit: "", takes_threshold: false, whole: true, seconds: "lasts" },
  {
    name: "lag_seconds",
    unit: "s",
    takes_threshold: true,
    whole: true,
    seconds: "lasts",
    least: 0,
  },
];
const BEHIND: RuleOut = {
  id: "r",
  name: "Behind",
  measure: "lag_seconds",
  threshold: 60,
  seconds: 120,
  severity: "warning",
  is_on: true,
  folder: "sales",
  pipeline: null,
  deployment: null,
  webhook: "https://hooks.example.com/a",
  signed: true,
  emails: [],
  may_change: true,
  tests: [
    {
      id: "n",
      channel: "webhook",
      about: "test",
      state: "waiting",
      attempts: 3,
      message: "failed 3 times: timed out",
      created_at: "2026-11-21T12:00:00Z",
    },
  ],
  updated_at: "2026-11-21T12:00:00Z",
};
const FAILED: RuleOut = {
  ...BEHIND,
  id: "f",
  name: "Failed",
  measure: "failed",
  threshold: null,
  seconds: 0,
  severity: "critical",
  folder: "",
  webhook: "",
  is_on: false,
  may_change: false,
  tests: [],
};

function show(mails = false) {
  const queries = new QueryClient({
    defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } },
  });
  queries.setQueryData(["me"], { username: "ada", may: { deployments: true } });
  const found = { items: [BEHIND, FAILED], count: 2, measures: MEASURES, mails };
  queries.setQueryData(["alert-rules"], found);
  render(
    <QueryClientProvider client={queries}>
      <MantineProvider env="test">
        <MemoryRouter>
          <AlertRules />
        </MemoryRouter>
      </MantineProvider>
    </QueryClientProvider>,
  );
}

beforeEach(() => vi.clearAllMocks());

test("a rule is read as a sentence: what, where, whom, and how its test went", async () => {
  show();
  const rule = within(screen.getByRole("region", { name: "Behind" }));
  expect(
    rule.getByText("Warns when the oldest record that waits is more than 60 s old, for 2 min."),
  ).toBeVisible();
  expect(rule.getByText("on the folder sales")).toBeVisible();
  expect(rule.getByText("tells the page, https://hooks.example.com/a (signed)")).toBeVisible();
  expect(rule.getByText("Test by webhook: failed 3 times: timed out")).toBeVisible();
  await userEvent.click(rule.getByRole("button", { name: "Send a test of Behind" }));
  expect(testAlertRule).toHaveBeenCalledWith({ path: { rule_id: "r" } });

  const other = within(screen.getByRole("region", { name: /^Failed.*off$/ }));
  expect(other.getByText("Warns when a deployment has failed.")).toBeVisible();
  expect(other.queryAllByRole("button")).toEqual([]);
});

test("what is refused stands at its field, and what was written is sent again", async () => {
  show(true);
  const problems = [
    { step: null, field: "webhook", severity: "error", message: "That leads nowhere." },
    { step: null, field: "threshold", severity: "error", message: "Write a whole number." },
  ];
  vi.mocked(createAlertRule).mockRejectedValueOnce(new ApiError(422, { problems }, "2 problems."));
  await userEvent.click(screen.getByRole("button", { name: "Add a rule" }));
  await userEvent.type(screen.getByRole("textbox", { name: /^Name/ }), "Mine");
  await userEvent.type(screen.getByRole("textbox", { name: "Webhook" }), "http://169.254.169.254");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText("2 problems.")).toBeVisible();
  expect(screen.getByRole("textbox", { name: "Webhook" })).toHaveAccessibleDescription(
    /That leads nowhere\./,
  );
  expect(screen.getByRole("textbox", { name: /^Warn above/ })).toHaveAccessibleDescription(
    /Write a whole number\./,
  );
  await userEvent.clear(screen.getByRole("textbox", { name: "Webhook" }));
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(vi.mocked(createAlertRule).mock.lastCall?.[0].body).toMatchObject({
    name: "Mine",
    measure: "lag_seconds",
    threshold: 60,
    seconds: 120,
    folder: "",
    webhook: "",
  });
});

test("a rule that is changed keeps its secret unless another is given", async () => {
  show();
  await userEvent.click(screen.getByRole("button", { name: "Change Behind" }));
  expect(screen.getByText(/no mail server/)).toBeVisible();
  await userEvent.click(screen.getByRole("switch", { name: "The rule is on" }));
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  const sent = vi.mocked(updateAlertRule).mock.lastCall?.[0];
  expect(sent?.path).toEqual({ rule_id: "r" });
  expect(sent?.body).toMatchObject({ is_on: false, folder: "sales", webhook_secret: null });
});
