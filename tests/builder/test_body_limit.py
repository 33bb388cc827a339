"""What is too large is refused by the server itself: in words, quickly, without keeping it."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from builder.body_limit import most_bytes

ROOT = Path(__file__).parents[2]
MB = 1024**2


@pytest.fixture(scope="module")
def server(
    redis_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[int, int]]:
    """A real web process; answers its port and pid."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tmp_path_factory.mktemp("web")
    command = [sys.executable, "-m", "uvicorn", "builder.asgi:application", "--lifespan", "off"]
    with (folder / "web.log").open("wb") as log:
        web = subprocess.Popen(
            [*command, "--port", str(port)],
            env={**os.environ, "HEADRACE_DATA": str(folder)},
            cwd=ROOT,
            stdout=log,
            stderr=log,
        )
    deadline = time.monotonic() + 60
    while socket.socket().connect_ex(("127.0.0.1", port)):
        assert time.monotonic() < deadline, (folder / "web.log").read_text()
        time.sleep(0.05)
    yield port, web.pid
    web.terminate()
    web.wait(timeout=20)


def post(port: int, path: str, size: int, expect: bool = False) -> tuple[int, Any]:
    """Send so many bytes as a browser does, all of them before the answer is read."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    link.putrequest("POST", path)
    link.putheader("Content-Type", "application/json")
    link.putheader("Content-Length", str(size))
    if expect:
        link.putheader("Expect", "100-continue")
    link.endheaders()
    chunk = b" " * MB
    for start in range(0, size, MB):
        link.send(chunk[: size - start])
    answer = link.getresponse()
    return answer.status, json.loads(answer.read())


def peak(pid: int) -> int:
    """The most memory that the process ever had, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


ROWS = [
    "/api/rows/parse",
    "/api/rehearse",
    "/api/pipelines/7b0d3c2e-0000-4000-8000-000000000000/test-cases",
    "/api/pipelines/7b0d3c2e-0000-4000-8000-000000000000/test-cases/run",
]


@pytest.mark.parametrize(
    "path", [*ROWS, *(f"/api/{p}" for p in ("check", "pipelines", "login")), "/admin/login/"]
)
def test_a_hundred_megabytes(path: str, server: tuple[int, int]) -> None:
    port, pid = server
    post(port, "/api/login", 10)
    before = peak(pid)
    begun = time.monotonic()
    status, answer = post(port, path, 100 * MB)
    assert time.monotonic() - begun < 5
    assert status == answer["status"] == 413
    assert answer["detail"] == f"The request is larger than {16 if path in ROWS else 4} MB."
    assert peak(pid) - before < 8 * MB


def test_one_that_asks_first_is_told_at_once(server: tuple[int, int]) -> None:
    assert post(server[0], "/api/rows/parse", 100 * MB, expect=True)[0] == 413


def test_one_that_never_sends_what_it_announced(server: tuple[int, int]) -> None:
    link = http.client.HTTPConnection("127.0.0.1", server[0], timeout=5)
    link.putrequest("POST", "/api/rows/parse")
    link.putheader("Content-Length", str(100 * MB))
    link.endheaders()
    assert link.getresponse().status == 413


def test_which_requests_may_be_large() -> None:
    assert {most_bytes(path) for path in ROWS} == {16 * MB}
    for path in ("/api/pipelines", "/api/pipelines/x", "/api/rows/parse/x", "/x/api/rehearse"):
        assert most_bytes(path) == 4 * MB


def test_what_fits_is_not_refused_for_its_size(api: Any) -> None:
    pipeline = api.post("/pipelines", {"template": "word-count"}, 201)
    rows = {"lines": [{"value": "x" * 1000}] * 9_000}
    case = {"name": "large", "rows": rows, "expected": {}}
    api.post(f"/pipelines/{pipeline['id']}/test-cases", case, 201)
