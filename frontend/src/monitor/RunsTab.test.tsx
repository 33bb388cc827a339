// @vitest-environment jsdom
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import type { Deployment } from "../api/types";
import { Exit, RunsTab } from "./RunsTab";

const at = "2026-11-22T12:00:00Z";
const ended = { version: 1, standby: false, message: "", started_at: at, ended_at: at };

function shown(runs: object[], may = true) {
  const queries = new QueryClient();
  queries.setQueryData(["me"], { username: "ada", superuser: may });
  const asked: string[] = [];
  render(
    <QueryClientProvider client={queries}>
      <MantineProvider env="test">
        <RunsTab
          deployment={{ runs, version: 2, pipeline: { id: "p", folder: "" } } as Deployment}
          onLog={(epoch) => asked.push(`log of ${epoch}`)}
          onDeploy={(version) => asked.push(`deploy ${version}`)}
        />
      </MantineProvider>
    </QueryClientProvider>,
  );
  return asked;
}

function row(epoch: number) {
  return document.querySelector<HTMLElement>(`[data-run="${epoch}"]`) as HTMLElement;
}

test("a run that stands by is told from one that runs", () => {
  shown([
    { ...ended, epoch: 2, version: 2, state: "starting", standby: true, ended_at: null },
    { ...ended, epoch: 1, state: "running", ended_at: null },
  ]);
  expect(within(row(2)).getByText("stands by")).toBeInTheDocument();
  expect(within(row(1)).queryByText("stands by")).toBeNull();
});

test("each run leads to its log, and to deploying its version where another is deployed", async () => {
  const asked = shown([
    { ...ended, epoch: 2, version: 2, state: "running", exit_code: null, ended_at: null },
    { ...ended, epoch: 1, state: "failed", exit_code: 65 },
  ]);
  expect(screen.getAllByRole("button", { name: /Deploy version/ })).toHaveLength(1);
  await userEvent.click(within(row(1)).getByRole("button", { name: /Deploy version 1/ }));
  await userEvent.click(within(row(1)).getByRole("button", { name: /Log/ }));
  expect(asked).toEqual(["deploy 1", "log of 1"]);
});

test("whoever may only look is offered no deployment", () => {
  shown([{ ...ended, epoch: 1, state: "failed", exit_code: 65 }], false);
  expect(screen.queryByRole("button", { name: /Deploy version/ })).toBeNull();
});

test.each([
  [0, "stopped as asked"],
  [65, "can't run as it is"],
  [75, "something outside was away"],
  [137, "exit code 137"],
  [null, "killed, or ended without a word"],
])("exit code %s says: %s", (code, words) => {
  const { container } = render(<Exit code={code} />);
  expect(container.textContent).toBe(words);
});
