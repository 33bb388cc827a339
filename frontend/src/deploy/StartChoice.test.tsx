// @vitest-environment jsdom
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { readGraph } from "../canvas/editGraph";
import { StartChoice, useStart } from "./StartChoice";
import { WAYS } from "./start";

const graph = readGraph({
  steps: [
    { id: "views", type: "kafka_source", config: { connection: "local", topics: ["views"] } },
  ],
  edges: [],
});

function Asked() {
  const { start, ...choice } = useStart(graph, "steps");
  return (
    <>
      <StartChoice {...choice} ways={WAYS} label="Begin" help="" />
      <output>{start === undefined ? "as the steps say" : JSON.stringify(start)}</output>
    </>
  );
}

function shown() {
  const queries = new QueryClient();
  queries.setQueryData(["connections"], { items: [{ id: "c", name: "local" }], count: 1 });
  const topics = { items: [{ topic: "views", partitions: 2 }], count: 1 };
  queries.setQueryData(["connections", "c", "topics"], topics);
  render(
    <QueryClientProvider client={queries}>
      <MantineProvider env="test">
        <Asked />
      </MantineProvider>
    </QueryClientProvider>,
  );
}

function asked() {
  return screen.getByRole("status").textContent;
}

test("offsets are chosen for each partition of the topics that are read", async () => {
  shown();
  expect(asked()).toBe("as the steps say");
  await userEvent.click(screen.getByRole("radio", { name: "offsets" }));
  expect(asked()).toBe('{"offsets":{"views":{"0":-2,"1":-2}}}');
  await userEvent.selectOptions(
    screen.getByLabelText("Where partition 0 of views begins"),
    "latest",
  );
  await userEvent.selectOptions(
    screen.getByLabelText("Where partition 1 of views begins"),
    "offset",
  );
  const offset = screen.getByLabelText("Offset of partition 1 of views");
  await userEvent.clear(offset);
  await userEvent.type(offset, "1200");
  expect(asked()).toBe('{"offsets":{"views":{"0":-1,"1":1200}}}');
});

test("a time is asked for, and is nothing until it is there", async () => {
  shown();
  await userEvent.click(screen.getByRole("radio", { name: "a time" }));
  expect(asked()).toBe("null");
  await userEvent.type(screen.getByLabelText(/Time, here/), "2026-11-22T03:04:05");
  expect(asked()).toBe(
    JSON.stringify({ timestamp: new Date(2026, 10, 22, 3, 4, 5).toISOString() }),
  );
});
