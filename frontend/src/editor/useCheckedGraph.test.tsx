// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, test, vi } from "vitest";
import type { CheckOut } from "../api/client";
import { EMPTY_GRAPH, type Graph } from "../api/graph";
import { createCheckStore } from "../canvas/checkStore";
import { useCheckedGraph } from "./useCheckedGraph";

// The answers come in the order in which a test gives them; a real server can't be made to do so.
const asked = vi.hoisted(() => new Map<string, (answer: CheckOut) => void>());
vi.mock("../api/client", () => ({
  checkGraph: ({ body }: { body: { graph: Graph } }) =>
    new Promise((answer) => asked.set(condition(body.graph), answer)),
  compileGraph: () => new Promise(() => {}),
}));

function condition(graph: Graph): string {
  return String(graph.steps[0]?.config.condition);
}

function drawn(text: string): Graph {
  return { ...EMPTY_GRAPH, steps: [{ id: "f", type: "filter", config: { condition: text } }] };
}

function answer(message: string): CheckOut {
  const problem = { step: "f", field: "condition", severity: "error" as const, message };
  return { problems: [problem], steps: {}, analyzed: true };
}

async function until(text: string) {
  await waitFor(() => expect(asked.has(text)).toBe(true));
}

test("an answer to what was typed before never replaces the answer to what stands there", async () => {
  const check = createCheckStore();
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const { rerender } = renderHook(({ graph }) => useCheckedGraph(graph, check), {
    wrapper,
    initialProps: { graph: drawn("am") },
  });
  await until("am");
  // What is typed in one go is asked about once, when it has come to rest.
  for (const text of ["amo", "amon", "amont"]) rerender({ graph: drawn(text) });
  expect(check.getState().checking).toBe(true);
  await until("amont");
  expect([...asked.keys()]).toEqual(["am", "amont"]);
  await act(async () => asked.get("amont")?.(answer("about amont")));
  await waitFor(() => expect(check.getState().checking).toBe(false));
  await act(async () => asked.get("am")?.(answer("about am")));
  expect(check.getState().problems.map(({ message }) => message)).toEqual(["about amont"]);
});
