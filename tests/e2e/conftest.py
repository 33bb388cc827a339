"""A whole Headrace, as `make up` starts it: real broker, real Redis, real Spark, real browser."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.runner.scenario import wait_until

ROOT = Path(__file__).resolve().parents[2]


class Headrace:
    """A running Headrace, its API as the administrator."""

    def __init__(self, data: Path) -> None:
        self.data = data
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.user, self.password = "admin", secrets.token_urlsafe(12)
        self.env = {
            **os.environ,
            "HEADRACE_DATA": str(data),
            "HEADRACE_PORT": str(self.port),
            "HEADRACE_ADMIN_USER": self.user,
            "HEADRACE_ADMIN_PASSWORD": self.password,
        }
        for given in ("REDIS_URL", "HEADRACE_KAFKA", "DATABASE_URL", "HEADRACE_SPARK_MASTER"):
            self.env.pop(given, None)
        self.session = requests.Session()

    def start(self) -> None:
        self.log = (self.data.parent / "up.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "builder.local.up"],
            cwd=ROOT, env=self.env, stdout=self.log, stderr=self.log, start_new_session=True,
        )  # fmt: skip
        self.until(self._answers, 60)
        token = self.post("/api/tokens", {"username": self.user, "password": self.password})
        self.session.headers["Authorization"] = f"Bearer {token['token']}"
        (local,) = self.get("/api/connections")["items"]
        self.connection, self.servers = local["id"], local["bootstrap_servers"]

    def stop(self) -> int:
        """Stop it as Ctrl+C does; returns the exit code."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(40)
        self.log.close()
        return code

    def get(self, path: str, **query: Any) -> Any:
        return self._answer(self.session.get(self.url + path, params=query, timeout=20))

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self._answer(
            self.session.post(self.url + path, json=body or {}, headers=headers, timeout=20)
        )

    def deployment(self, id_: str) -> Any:
        return self.get(f"/api/deployments/{id_}")

    def until_state(self, id_: str, state: str, seconds: float = 90) -> Any:
        """Wait for a deployment's state; another that it would not leave fails at once."""

        def check() -> str | None:
            found = self.deployment(id_)
            assert found["state"] == state or found["state"] != "failed", found["message"]
            return None if found["state"] == state else f"{found['state']}: {found['message']}"

        self.until(check, seconds)
        return self.deployment(id_)

    def until(self, check: Callable[[], str | None], seconds: float) -> None:
        """Wait until `check` answers None; fail with its last answer when time is up."""
        wait_until(check, seconds)

    def pids(self, words: str) -> list[int]:
        """This Headrace's processes whose command has these words."""
        marker = f"HEADRACE_DATA={self.data}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdecimal():
                continue
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if words in command and marker in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except (FileNotFoundError, ProcessLookupError):
                continue
        return sorted(found)

    def _answers(self) -> str | None:
        assert self.process.poll() is None, (self.data.parent / "up.log").read_text()
        try:
            requests.get(self.url + "/api/health", timeout=5)
        except requests.ConnectionError:
            return "web does not answer"
        return None

    @staticmethod
    def _answer(response: requests.Response) -> Any:
        assert response.ok, f"{response.status_code} {response.text}"
        return response.json() if response.content else None


@pytest.fixture(scope="session")
def headrace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Headrace]:
    running = Headrace(tmp_path_factory.mktemp("headrace") / "data")
    running.data.mkdir(exist_ok=True)
    running.start()
    yield running
    assert running.stop() == 0


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        if os.environ.get("HEADRACE_REQUIRE_BROWSER"):
            pytest.fail("There is no Chromium, and this run must not go without.")
        warnings.warn("NO BROWSER TESTS: Chromium is not installed", stacklevel=1)
        pytest.skip("no Chromium")
    from playwright.sync_api import sync_playwright

    flags = [
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
    ]  # fmt: skip
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=flags)
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
