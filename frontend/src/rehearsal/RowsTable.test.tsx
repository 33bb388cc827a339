// @vitest-environment jsdom
import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test } from "vitest";
import type { Rows } from "../api/types";
import { RowsTable } from "./RowsTable";

interface HeldProps {
  first: Rows;
  onRows: (rows: Rows) => void;
}

function Held({ first, onRows }: HeldProps) {
  const [rows, setRows] = useState(first);
  return (
    <RowsTable
      rows={rows}
      columns={COLUMNS}
      about={["_deleted"]}
      title="Words"
      onChange={(next) => {
        onRows(next);
        setRows(next);
      }}
    />
  );
}

const COLUMNS = [
  { name: "word", type: "string" },
  { name: "n", type: "bigint" },
];

/** Show a table of rows; `rows` of what is answered is what it holds now. */
function table(first: Rows) {
  let held = first;
  render(
    <MantineProvider env="test">
      <Held
        first={first}
        onRows={(next) => {
          held = next;
        }}
      />
    </MantineProvider>,
  );
  return { user: userEvent.setup(), rows: () => held };
}

test("a cell is read by its column's type when it is left, and Enter leads to the next row", async () => {
  const { user, rows } = table([{ word: "a" }, { word: "b", n: 1 }]);
  await user.type(screen.getByLabelText("n of row 1"), "7{Enter}");
  expect(rows()).toEqual([
    { word: "a", n: 7 },
    { word: "b", n: 1 },
  ]);
  expect(screen.getByLabelText("n of row 2")).toHaveFocus();
});

test("Escape takes back what was typed; what does not fit is told and kept as text", async () => {
  const { user, rows } = table([{ word: "a", n: 1 }]);
  const cell = screen.getByLabelText("n of row 1");
  await user.type(cell, "2{Escape}");
  expect(cell).toHaveValue("1");
  await user.clear(cell);
  await user.type(cell, "many");
  expect(cell).toBeInvalid();
  await user.tab();
  expect(rows()).toEqual([{ word: "a", n: "many" }]);
  expect(cell).toBeInvalid();
});

test("rows are duplicated and removed, and deletions ticked", async () => {
  const { user, rows } = table([{ word: "a" }, { word: "b" }]);
  await user.click(screen.getByLabelText("Duplicate row 1"));
  await user.click(screen.getByLabelText("Remove row 3"));
  await user.click(screen.getByLabelText("_deleted of row 2"));
  expect(rows()).toEqual([{ word: "a" }, { word: "a", _deleted: true }]);
  await user.click(screen.getByLabelText("_deleted of row 2"));
  expect(rows()).toEqual([{ word: "a" }, { word: "a" }]);
});

test("a row that is asked for is shown on its page, to be typed into", () => {
  const rows = Array.from({ length: 60 }, (_, i) => ({ word: `w${i + 1}` }));
  const shared = { rows, columns: COLUMNS, about: [], title: "Words", onChange: () => {} };
  const page = (wanted: { row: number } | null) => (
    <MantineProvider env="test">
      <RowsTable {...shared} wanted={wanted} />
    </MantineProvider>
  );
  const { rerender } = render(page(null));
  rerender(page({ row: 59 }));
  expect(screen.getByLabelText("word of row 60")).toHaveFocus();
});

test("many rows are shown page by page, numbered through", async () => {
  const { user } = table(Array.from({ length: 60 }, (_, i) => ({ word: `w${i + 1}` })));
  expect(screen.queryByLabelText("word of row 51")).toBeNull();
  await user.click(screen.getByRole("button", { name: "Next page" }));
  expect(screen.getByLabelText("word of row 51")).toHaveValue("w51");
});
