// @vitest-environment jsdom
import { MantineProvider } from "@mantine/core";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { CaseDiff } from "./CaseDiff";
import type { RowDiff } from "./diff";

const ROWS: RowDiff[] = [
  { op: "same", expected: { word: "a", n: 1 }, found: { word: "a", n: 1 }, columns: [] },
  { op: "changed", expected: { word: "b", n: 2 }, found: { word: "b", n: 3 }, columns: ["n"] },
  { op: "missing", expected: { word: "c", _deleted: true }, found: null, columns: [] },
];

function lines() {
  const [, ...rows] = within(screen.getByRole("table")).getAllByRole("row");
  return rows.map((row) =>
    within(row)
      .getAllByRole("cell")
      .map((cell) => cell.textContent),
  );
}

test("each row says in words how it differs, and a changed cell what was expected", async () => {
  render(
    <MantineProvider env="test">
      <CaseDiff step="out" title="Counts" passed={false} rows={ROWS} />
    </MantineProvider>,
  );
  expect(screen.getByRole("heading")).toHaveTextContent("Counts out");
  expect(screen.getByLabelText("Failed")).toBeInTheDocument();
  expect(lines()).toEqual([
    ["changed", "b", "2 → 3"],
    ["missing · deleted", "c", ""],
  ]);
  const changed = screen.getByText("2");
  expect(changed.closest("del")).not.toBeNull();
  expect(screen.getByText("3").closest("ins")).not.toBeNull();

  await userEvent.click(screen.getByRole("button", { name: "Show the row that is the same" }));
  expect(lines()).toContainEqual(["same", "a", "1"]);
});

test("where every row is the same there is no table to look through", () => {
  render(
    <MantineProvider env="test">
      <CaseDiff step="out" title="Counts" passed rows={ROWS.slice(0, 1)} />
    </MantineProvider>,
  );
  expect(screen.queryByRole("table")).toBeNull();
  expect(screen.getByLabelText("Passed")).toBeInTheDocument();
});
