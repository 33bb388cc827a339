"""A whole Headrace, as `make up` starts it: real broker, real Redis, real Spark."""

import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import requests

from tests.runner.scenario import wait_until

ROOT = Path(__file__).resolve().parents[1]


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
                # Redis writes its title over its environment.
                if words in command and (
                    str(self.data) in command
                    or marker in (entry / "environ").read_bytes().split(b"\0")
                ):
                    found.append(int(entry.name))
            except (FileNotFoundError, ProcessLookupError):
                continue
        return sorted(found)

    def jobs_of(self, deployment: str) -> list[int]:
        """The job processes of a deployment, those that stand by among them."""
        folder = f"{self.data}/deployments/{deployment}/runs/"
        return [pid for pid in self._all() if self._is_job(pid, folder)]

    def children(self, parent: int) -> list[int]:
        """The processes that this one has started and that are still there."""
        found = []
        for pid in self._all():
            with suppress(FileNotFoundError, ProcessLookupError):
                if f"\nPPid:\t{parent}\n" in Path(f"/proc/{pid}/status").read_text():
                    found.append(pid)
        return found

    @staticmethod
    def _all() -> list[int]:
        return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]

    @staticmethod
    def _is_job(pid: int, folder: str) -> bool:
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        except (FileNotFoundError, ProcessLookupError):
            return False
        return "runner.host" in words and any(word.startswith(folder) for word in words)

    def _answers(self) -> str | None:
        assert self.process.poll() is None, (self.data.parent / "up.log").read_text()
        try:
            requests.get(self.url + "/api/health", timeout=5)
        except (requests.ConnectionError, requests.Timeout):
            return "web does not answer"
        return None

    @staticmethod
    def _answer(response: requests.Response) -> Any:
        assert response.ok, f"{response.status_code} {response.text}"
        return response.json() if response.content else None
