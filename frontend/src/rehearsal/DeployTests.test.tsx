// @vitest-environment jsdom
import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { type BeforeDeploy, DeployTests } from "./DeployTests";

const PASSED: BeforeDeploy = { waiting: false, count: 2, failed: [], notRun: null };

function said(tests: Partial<BeforeDeploy>) {
  render(
    <MantineProvider env="test">
      <DeployTests tests={{ ...PASSED, ...tests }} />
    </MantineProvider>,
  );
  return screen.getByTestId("deploy-tests").textContent;
}

test("cases that pass are said to, in one line", () => {
  expect(said({})).toContain("All 2 test cases pass.");
});

test("while they run, nothing is said of how they end", () => {
  expect(said({ waiting: true })).toBe("Running the 2 test cases of this pipeline…");
});

test("cases that fail are named", () => {
  const text = said({ failed: ["late rows", "no rows"] });
  expect(text).toContain("2 of 2 test cases fail");
  expect(screen.getAllByRole("listitem").map((item) => item.textContent)).toEqual([
    "late rows",
    "no rows",
  ]);
  expect(text).not.toContain("pass.");
});

test("that they could not be run is no pass, and says why", () => {
  const text = said({ notRun: "Spark is away." });
  expect(text).toContain("could not be run");
  expect(text).toContain("Spark is away. It can be deployed untested.");
  expect(text).not.toContain("pass.");
});

test("where there are no cases, nothing is said", () => {
  expect(said({ count: 0 })).toBe("");
});
