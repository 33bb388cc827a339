"""What the pages that watch a deployment must say of it."""

import re
from typing import Any

from playwright.sync_api import expect

from tests.e2e.accessible import faults
from tests.headrace import Headrace

RIGHT_AGAIN_MS = 2_000


def expect_counts(page: Any, counts: dict[str, int]) -> None:
    """The steps on the canvas, by their type, show just these counts."""
    for step_type, count in counts.items():
        shown = page.locator(f"[data-step-type={step_type}] [data-testid=step-count]")
        expect(shown).to_have_attribute("data-count", str(count))


def expect_overview(page: Any, counts: dict[str, int]) -> None:
    """A deployment that has read all of its rows within the last hour is shown so."""
    expect_counts(page, counts)
    counted = page.get_by_label("What the steps count")
    counted.select_option("hour")
    expect_counts(page, counts)
    counted.select_option("yesterday")
    expect(page.get_by_text("Nothing is kept of that time.")).to_be_visible()
    counted.select_option("version")
    expect_counts(page, counts)
    counted.select_option("all")
    expect(page.locator("[data-chart=rate]")).to_contain_text("highest")
    expect(page.locator("[data-chart=rate] canvas")).to_be_visible()
    lag = page.locator("[data-segment-now]").first.locator("[data-number=lag] dd")
    expect(lag).to_have_text("0")
    expect_accessible(page)


def expect_accessible(page: Any) -> None:
    found = faults(page)
    assert not found, "\n".join(found)


def expect_listed(headrace: Headrace, page: Any, id_: str) -> None:
    """The monitor and the list of pipelines show the deployment as one that runs, with no lag."""
    page.goto(f"{headrace.url}/monitor")
    row = page.locator(f"[data-deployment='{id_}']")
    expect(row).to_have_attribute("data-state", "running")
    expect(row.locator("[data-measure=lag]")).to_have_text("0")
    expect(row.locator("[data-measure=rate]")).to_have_text(re.compile(r"/s$"))
    expect(row.get_by_role("img")).to_have_count(2)
    expect_accessible(page)
    page.get_by_role("button", name="Big screen").click()
    expect(page.get_by_test_id("big-screen")).to_contain_text(row.get_by_role("link").inner_text())
    expect(page.get_by_role("navigation")).to_have_count(0)
    expect_accessible(page)
    page.get_by_role("button", name="Leave the big screen").click()
    expect(page.get_by_test_id("big-screen")).to_have_count(0)
    page.get_by_role("link", name="Pipelines", exact=True).click()
    pipeline = headrace.deployment(id_)["pipeline"]["id"]
    row = page.locator(f"[data-pipeline='{pipeline}']")
    expect(row).to_contain_text("running")
    expect(row.locator("[data-measure=lag]")).to_have_text("0")


class Lines:
    """The websockets that a page opens from now on: silenced, or cut, on demand."""

    def __init__(self, page: Any) -> None:
        self.open: list[Any] = []
        self.silent: set[Any] = set()
        page.route_web_socket(re.compile("/ws/"), self._pass_on)

    def _pass_on(self, line: Any) -> None:
        self.open.append(line)
        server = line.connect_to_server()
        server.on_message(lambda message: None if line in self.silent else line.send(message))

    def silence(self) -> None:
        """What is told from now on gets lost, though the lines look well."""
        self.silent.update(self.open)

    def cut(self) -> None:
        for line in self.open:
            line.close()
        self.open.clear()
