// @vitest-environment jsdom
import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Fit } from "../api/client";
import { FitReport } from "./FitReport";

const fit: Fit = {
  fits: false,
  segments: [
    {
      id: "totals",
      mode: "real_time",
      checkpoint: "totals-1a",
      goes_on: true,
      message: "It goes on from its checkpoint.",
    },
    {
      id: "counts",
      mode: "real_time",
      checkpoint: "counts-3c",
      goes_on: false,
      message: "What counts remembers does not fit this edit.",
    },
  ],
  left: ["counts-2b"],
};

function said(props: Partial<Parameters<typeof FitReport>[0]>) {
  render(
    <MantineProvider env="test">
      <FitReport fit={fit} error={null} fresh={false} {...props} />
    </MantineProvider>,
  );
  return screen.queryAllByRole("listitem").map((item) => item.textContent);
}

test("each segment is told by its name, its fate and the reason", () => {
  expect(said({})).toEqual([
    "totals · goes onIt goes on from its checkpoint.",
    "counts · does not fit, begins anewWhat counts remembers does not fit this edit.",
  ]);
});

test("whoever begins afresh is not told that anything goes on", () => {
  expect(said({ fresh: true }).join()).not.toContain("goes on");
});

test("that it can't be said is no fit", () => {
  expect(said({ fit: undefined, error: new Error("Kafka is away.") })).toEqual([]);
  expect(screen.getByRole("alert").textContent).toContain("Kafka is away.");
});
