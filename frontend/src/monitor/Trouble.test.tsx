// @vitest-environment jsdom
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { expect, test } from "vitest";
import type { Deployment } from "../api/types";
import { Trouble } from "./Trouble";

const run = { epoch: 4, version: 1, standby: false, state: "failed", started_at: "" };

function shown(deployment: object, may = true) {
  const queries = new QueryClient();
  queries.setQueryData(["me"], { username: "ada", superuser: may });
  render(
    <QueryClientProvider client={queries}>
      <MantineProvider env="test">
        <MemoryRouter>
          <Trouble
            deployment={
              {
                failures: 0,
                retry_at: null,
                missing_topics: [],
                runs: [],
                pipeline: { id: "p", folder: "" },
                step: null,
                graph: { steps: [{ id: "counts" }], edges: [] },
                ...deployment,
              } as unknown as Deployment
            }
            onLog={() => {}}
          />
        </MemoryRouter>
      </MantineProvider>
    </QueryClientProvider>,
  );
  return screen.queryByTestId("trouble")?.textContent ?? null;
}

const crashed = {
  state: "backing_off",
  failures: 3,
  retry_at: new Date(Date.now() + 42_500).toISOString(),
  runs: [{ ...run, ended_at: new Date().toISOString(), exit_code: 1 }],
};

test("what runs is in no trouble", () => expect(shown({ state: "running" })).toBeNull());

test("after a crash one reads what happened, when the next try is and where to look", () => {
  const said = shown(crashed);
  expect(said).toContain("It ended unexpectedly");
  expect(said).toContain("3 tries failed in a row");
  expect(said).toContain("Run 4 ended now · exit code 1");
  expect(said).toMatch(/next try in 4[23] s/);
  expect(screen.getByRole("button", { name: "Log of run 4" })).toBeInTheDocument();
  expect(screen.getByRole("button", { name: "Try now" })).toBeInTheDocument();
});

test("whoever may only look can't try", () => {
  shown(crashed, false);
  expect(screen.queryByRole("button", { name: "Try now" })).toBeNull();
});

test("what can't run as it is leads to the drawing, and is not tried again", () => {
  const said = shown({
    state: "failed",
    step: "counts",
    runs: [{ ...run, ended_at: new Date().toISOString(), exit_code: 65 }],
  });
  expect(said).toContain("It does not try again by itself");
  expect(said).toContain("can't run as it is");
  const mend = screen.getByRole("link", { name: "Mend it" });
  expect(mend).toHaveAttribute("href", "/pipelines/p?step=counts");
  expect(screen.queryByTestId("next-try")).toBeNull();
});

test("a try that is due is said to come any moment", () => {
  expect(shown({ ...crashed, retry_at: "2026-01-01T00:00:00Z" })).toContain("trying any moment");
});
