// @vitest-environment jsdom
import { MantineProvider } from "@mantine/core";
import { render, screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { CATALOGUE } from "../api/testCatalogue";
import type { Deployment } from "../api/types";
import { readGraph } from "../canvas/editGraph";
import { RowsTab } from "./RowsTab";

function tab(types: string[], samples: Deployment["samples"] = {}) {
  const graph = readGraph({ steps: types.map((type) => ({ id: `a_${type}`, type })), edges: [] });
  render(
    <MantineProvider env="test">
      <RowsTab deployment={{ graph, samples } as Deployment} catalogue={CATALOGUE} />
    </MantineProvider>,
  );
}

test.each([
  [["kafka_source", "peek", "kafka_sink"], ["Peek"]],
  [
    ["peek", "console_sink"],
    ["Peek", "Console"],
  ],
  [["filter"], []],
])("of %j the rows of %j are shown", (types, shown) => {
  tab(types);
  expect(screen.queryAllByRole("heading").map((h) => h.textContent)).toEqual(shown);
});

test("the rows that passed a peek are in its table", () => {
  tab(["peek"], { a_peek: [{ user: "ada", n: 3 }] });
  const cells = within(screen.getByRole("table")).getAllByRole("cell");
  expect(cells.map((cell) => cell.textContent)).toEqual(["ada", "3"]);
});
