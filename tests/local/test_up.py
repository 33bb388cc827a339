"""`make up`'s last part, run for real: started, harmed, stopped."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.local.observe import eventually, processes_of

ROOT = Path(__file__).resolve().parents[2]
UP = [sys.executable, "-m", "builder.local.up"]
FOREIGN = ("REDIS_URL", "HEADRACE_KAFKA", "DATABASE_URL", "HEADRACE_HOSTS", "HEADRACE_DEMO")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(data: Path, port: int) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    return {**kept, "HEADRACE_DATA": str(data), "HEADRACE_PORT": str(port)}


class Said:
    """What `up` has printed so far."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __contains__(self, text: str) -> bool:
        return text in self.path.read_text()

    def __str__(self) -> str:
        return self.path.read_text()


@contextmanager
def running(data: Path, port: int, said: Path) -> Iterator[tuple["subprocess.Popen[bytes]", Said]]:
    with said.open("wb") as out:
        up = subprocess.Popen(
            UP, cwd=ROOT, env=environment(data, port), stdout=out, stderr=subprocess.STDOUT
        )
    try:
        yield up, Said(said)
    finally:
        if up.poll() is None:
            up.kill()
        up.wait()


def health(port: int) -> dict[str, dict[str, dict[str, object]]]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/health", timeout=20) as answer:
        found: dict[str, dict[str, dict[str, object]]] = json.load(answer)
        return found


def all_is_well(port: int) -> bool:
    return all(check["ok"] for check in health(port)["checks"].values())


def pids_running(data: Path, words: str) -> set[int]:
    found = set()
    for pid in processes_of(data):
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if words in line:
            found.add(pid)
    return found


def test_from_start_to_stop(tmp_path: Path) -> None:
    data, port = tmp_path / "data", free_port()
    with running(data, port, tmp_path / "said") as (up, said):
        assert eventually(lambda: "Ready after" in said or up.poll() is not None, 120), said
        assert f"http://127.0.0.1:{port}/" in said
        assert re.search(r"Log in as admin with the password \S{12,} ", str(said)), said
        assert eventually(lambda: all_is_well(port), 90), health(port)
        assert data.stat().st_mode & 0o077 == 0

        # A second one on the same folder is refused by name, on the same port likewise.
        refused = subprocess.run(
            UP, cwd=ROOT, env=environment(data, free_port()), capture_output=True, text=True
        )
        assert refused.returncode == 1
        assert f"already runs on {data} (process {up.pid})" in refused.stderr
        other = environment(tmp_path / "other", port)
        refused = subprocess.run(UP, cwd=ROOT, env=other, capture_output=True, text=True)
        assert refused.returncode == 1
        assert f"Port {port}" in refused.stderr
        assert processes_of(tmp_path / "other") == []

        # What dies is started again, and what it had started itself is not left behind.
        before = pids_running(data, "--queues control")
        assert len(before) > 1
        os.kill(min(before), signal.SIGKILL)
        assert eventually(lambda: "control worker ended with code -9" in said), said
        assert eventually(lambda: bool(pids_running(data, "--queues control") - before), 30)
        assert not before & pids_running(data, "--queues control")

        begin = time.monotonic()
        up.send_signal(signal.SIGTERM)
        assert up.wait(60) == 0, said
        assert time.monotonic() - begin < 20
    assert eventually(lambda: processes_of(data) == [], 5), processes_of(data)

    # The second start keeps what the first has made.
    with running(data, port, tmp_path / "said again") as (up, said):
        assert eventually(lambda: "Ready after" in said or up.poll() is not None, 120), said
        assert "password" not in said
        # An impatient second Ctrl+C ends everything at once.
        up.send_signal(signal.SIGINT)
        assert eventually(lambda: "Stopping" in said)
        up.send_signal(signal.SIGINT)
        up.wait(5)
    assert eventually(lambda: processes_of(data) == [], 5), processes_of(data)


def test_killed_outright_it_leaves_nothing_behind(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running(data, free_port(), tmp_path / "said") as (up, said):
        assert eventually(lambda: "Ready after" in said or up.poll() is not None, 120), said
        up.kill()
    assert eventually(lambda: processes_of(data) == [], 30), processes_of(data)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stopped_while_it_starts(tmp_path: Path, number: signal.Signals) -> None:
    data = tmp_path / "data"
    with running(data, free_port(), tmp_path / "said") as (up, said):
        assert eventually(lambda: "Redis started" in said, 60), said
        up.send_signal(number)
        assert up.wait(30) == 0, said
    assert eventually(lambda: processes_of(data) == [], 5), processes_of(data)
