"""A real browser before a whole Headrace."""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.chromium import find, launch
from tests.headrace import Headrace


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright."""
    if find() is None:
        if os.environ.get("HEADRACE_REQUIRE_BROWSER"):
            pytest.fail("There is no Chromium, and this run must not go without.")
        warnings.warn("NO BROWSER TESTS: Chromium is not installed", stacklevel=1)
        pytest.skip("no Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any, headrace: Headrace, tmp_path: Path) -> Iterator[Any]:
    """A logged-in page; what its console calls an error fails the test."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=headrace.url)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_default_timeout(15_000)
    page.goto(headrace.url)
    page.get_by_label("User name").fill(headrace.user)
    page.get_by_label("Password").fill(headrace.password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(headrace.url + "/")
    yield page
    page.screenshot(path=tmp_path / "last.png")
    context.close()
    assert errors == []
