// @vitest-environment jsdom
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { client } from "../api/client/client.gen";
import type { Deployment } from "../api/types";
import { StateTab, span } from "./StateTab";

// A page that is made for the first time takes its time on a busy machine.
const SLOWLY = { timeout: 20_000 };
const COUNTS = {
  step: "counts",
  label: "Counts",
  key: [{ name: "word", type: "string" }],
  mode: "real_time",
  kept: "state",
  live: true,
};
const ANSWER = {
  step: "counts",
  columns: [
    { name: "word", type: "string" },
    { name: "count", type: "bigint" },
  ],
  key: ["word"],
  rows: [
    { word: "be", count: 2 },
    { word: null, count: 1 },
  ],
  more: true,
  from: "topic",
  as_of: "2026-01-01T12:05:01Z",
  batch: 17,
  committed_at: "2026-01-01T12:03:04Z",
  note: "",
};

function show(answer: (url: URL) => unknown) {
  const asked: URL[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    const url = new URL((input as Request).url);
    asked.push(url);
    const found = answer(url);
    return new Response(JSON.stringify(found), {
      status: 200,
      headers: { "Content-Type": "application/json" },
    });
  });
  client.setConfig({ baseUrl: "http://headrace", fetch: (...given) => globalThis.fetch(...given) });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <StateTab deployment={{ id: "d1", version: 1, mode: "auto" } as Deployment} />
      </QueryClientProvider>
    </MantineProvider>,
  );
  return asked;
}

function served(tables: unknown[]) {
  return show((url) => (url.pathname.endsWith("/state") ? { tables } : ANSWER));
}

test("the rows of the first table are shown, with how fresh they are", async () => {
  served([COUNTS]);
  const table = await screen.findByRole("table", { name: "Rows of Counts" }, SLOWLY);
  const cells = within(table).getAllByRole("cell");
  expect(cells.map((cell) => cell.textContent)).toEqual(["be", "2", "null", "1"]);
  expect(screen.getByRole("status").textContent).toMatch(/Newest values.*batch 17/);
  expect(screen.getByText(/These are the first 2 rows/)).toBeTruthy();
});

test("a key is asked for when the form is sent", async () => {
  const asked = served([COUNTS]);
  await screen.findByRole("table", {}, SLOWLY);
  fireEvent.click(screen.getByRole("radio", { name: "by key" }));
  fireEvent.change(screen.getByLabelText("word"), { target: { value: "be" } });
  expect(asked.at(-1)?.searchParams.get("key")).toBe(null);
  fireEvent.click(screen.getByRole("button", { name: "Ask" }));
  await vi.waitFor(() => expect(asked.at(-1)?.searchParams.get("key")).toBe("be"));
});

test("without a table it says so", async () => {
  served([]);
  expect(await screen.findByText(/no step that gives a table/, {}, SLOWLY)).toBeTruthy();
});

test("a window is told by its day and both its ends", () => {
  const [start, end] = [new Date(2026, 0, 1, 12, 0, 0), new Date(2026, 0, 1, 12, 0, 10)];
  expect(span(start.toISOString(), end.toISOString())).toBe("1 Jan 2026, 12:00:00 – 12:00:10");
});
