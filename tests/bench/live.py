"""How long a number takes from a job's process to the browser, with many who watch.

    python -m tests.bench.live [--deployments 20] [--browsers 50] [--seconds 20] [--json FILE]

A whole Headrace is started as `make up` does. Deployments are rows of its database whose runs
write events as a job's process does, once a second each, at moments of their own: Spark itself
would need more processors than the way that is measured. Each browser holds the two websockets
that a page holds, the list's and a deployment's; one of them is Chromium, in whose page the
number must stand. The time is from the moment the event is written.

Then the same once more beside a browser that takes nothing in, and lines that break: how long
until a page whose websockets were cut off shows the newest number again.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from tests.headrace import ROOT, Headrace

Json = dict[str, Any]

LIMIT_MS = 250
RIGHT_AGAIN_SECONDS = 2.0
# Numbers that say which event they came by: of deployment i the n-th writes n * STRIDE + i.
STRIDE = 100
SINK = "counts"


def main() -> None:
    options = _options()
    if options.watch:
        about = json.loads(options.watch)
        with Path(about["out"]).open("w", buffering=1) as out:
            asyncio.run(watch(about, out))
        return
    with tempfile.TemporaryDirectory(prefix="live-", ignore_cleanup_errors=True) as folder:
        data = Path(folder) / "data"
        data.mkdir()
        found = measure(Headrace(data), options)
    _say(found)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


def measure(headrace: Headrace, options: argparse.Namespace) -> Json:
    """Start everything, watch, and answer what was found."""
    try:
        headrace.start()
        # The workers that keep a Spark warm make one first, which takes all there is.
        headrace.until(lambda: not_warm(headrace), 240)
        ids = make_deployments(headrace, options.deployments)
        with told(ids) as written, browser(headrace, ids[0]) as page:
            seconds = options.seconds
            watchers = _watchers(headrace, ids, options.browsers - 1)
            time.sleep(5)
            alone = _round(headrace, page, written, watchers, seconds)
            with slow_reader(headrace, ids):
                beside = _round(headrace, page, written, watchers, seconds)
            for watcher in watchers:
                watcher.terminate()
            again = [page.right_again(written) for _ in range(5)]
        return {
            "deployments": len(ids),
            "browsers": options.browsers,
            "alone": alone,
            "beside a slow browser": beside,
            "right again after": again,
        }
    finally:
        headrace.stop()


def not_warm(headrace: Headrace) -> str | None:
    """What is not there yet, None when all is."""
    checks = headrace.session.get(f"{headrace.url}/api/health", timeout=20).json()["checks"]
    missing = [name for name, check in checks.items() if not check["ok"]]
    return f"not there: {', '.join(missing)}" if missing else None


# --- What is watched


def make_deployments(headrace: Headrace, count: int) -> list[str]:
    """Rows of deployments that run, as far as anybody can see; answers their ids."""
    os.environ.update(HEADRACE_DATA=str(headrace.data), DJANGO_SETTINGS_MODULE="builder.settings")
    import django

    django.setup()
    from django.utils import timezone

    from builder.deployments.models import Deployment, Run, State
    from builder.pipelines.models import Version
    from runner.launch import identify

    me = identify(os.getpid())
    assert me is not None
    ids = []
    for i in range(count):
        body = {"template": "word-count", "name": f"Watched {i}"}
        pipeline = headrace.post("/api/pipelines", body)
        headrace.post(f"/api/pipelines/{pipeline['id']}/versions", {"comment": ""})
        version = Version.objects.get(pipeline_id=pipeline["id"])
        compiled = headrace.post("/api/compile", {"graph": version.graph})
        deployment = Deployment.objects.create(
            pipeline_id=pipeline["id"], version=version, name=pipeline["slug"],
            graph=version.graph, script=compiled["script"], segments=compiled["segments"],
            state=State.RUNNING,
        )  # fmt: skip
        run = Run(
            deployment=deployment, epoch=1, generation=1, version=version, state=State.RUNNING,
            started_at=timezone.now(), running_at=timezone.now(), started_clock=time.monotonic(),
            boot_id=me.boot_id, pid=me.pid, start_ticks=me.start_ticks,
        )  # fmt: skip
        run.folder.mkdir(parents=True)
        run.save()
        ids.append(str(deployment.pk))
    return ids


@contextmanager
def told(ids: list[str]) -> Iterator[dict[int, float]]:
    """Write events of all deployments meanwhile; answers when each number was written."""
    from builder.deployments.models import Run
    from runner.events import EventLog

    runs = {str(r.deployment_id): r for r in Run.objects.select_related("deployment")}
    logs = [EventLog(runs[id_].folder / "events.jsonl") for id_ in ids]
    graph = runs[ids[0]].deployment.graph
    segments = runs[ids[0]].deployment.segments
    written: dict[int, float] = {}
    ended = threading.Event()

    def write() -> None:
        # A job tells once a second, at a moment that has nothing to do with others'.
        due = [(time.monotonic() + random.random(), i, 1) for i in range(len(ids))]
        while not ended.is_set():
            due.sort()
            at, i, n = due.pop(0)
            if ended.wait(max(0.0, at - time.monotonic())):
                return
            number = n * STRIDE + i
            event = _metrics(graph, segments, number)
            written[number] = time.time()
            logs[i].write(event)
            due.append((at + 1, i, n + 1))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield written
    finally:
        ended.set()
        writer.join()


def _metrics(graph: Json, segments: list[Json], number: int) -> Json:
    step = {"in": number, "out": number, "dropped": 0, "errors": 0, "rate": number / 10}
    segment = {
        "batch": number, "batch_ms": 40, "rate": number / 10, "lag": {"lines-0": 5, "lines-1": 7},
        "position": number, "watermark": None, "state_rows": number, "state_bytes": 40 * number,
    }  # fmt: skip
    return {
        "type": "metrics",
        "steps": {s["id"]: step for s in graph["steps"]},
        "segments": {s["id"]: segment for s in segments},
    }


# --- Those who watch


def _watchers(headrace: Headrace, ids: list[str], count: int) -> list["subprocess.Popen[bytes]"]:
    """Two processes with websockets of so many browsers; each writes what it sees to a file."""
    processes = []
    for half in range(2):
        about = {
            "url": headrace.url.replace("http", "ws"),
            "token": headrace.session.headers["Authorization"],
            "ids": [ids[i % len(ids)] for i in range(half, count, 2)],
            "out": str(headrace.data / f"seen-{half}.jsonl"),
        }
        command = [sys.executable, "-m", "tests.bench.live", "--watch", json.dumps(about)]
        processes.append(subprocess.Popen(command, cwd=ROOT))
    return processes


async def watch(about: Json, out: TextIO) -> None:
    """Hold the websockets of several browsers, and note when each number came."""
    from websockets.asyncio.client import connect

    async def follow(path: str) -> None:
        headers = {"Authorization": about["token"]}
        # The list's snapshot has all deployments.
        address = about["url"] + path
        async with connect(address, additional_headers=headers, max_size=None) as socket:
            seq = None
            async for text in socket:
                now = time.time()
                message = json.loads(text)
                if message["type"] == "snapshot":
                    seq = message["seq"]
                    continue
                if seq is not None and message["seq"] > seq + 1:
                    out.write(f'{{"gap": {message["seq"] - seq}}}\n')
                    await socket.send('{"type": "snapshot"}')
                seq = max(seq or 0, message["seq"])
                if message["event"]["type"] == "metrics":
                    number = message["event"]["steps"][SINK]["out"]
                    out.write(f'{{"number": {number}, "at": {now}}}\n')

    paths = [f"/ws/deployments/{id_}" for id_ in about["ids"]]
    await asyncio.gather(*map(follow, [*paths, *["/ws/deployments"] * len(paths)]))


class Page:
    """Chromium with a deployment's page, by way of a line that can be cut."""

    def __init__(self, page: Any, line: "Line") -> None:
        self.page = page
        self.line = line

    def seen(self) -> list[tuple[int, float]]:
        """What stood on the sink's card, and since when; forgets it."""
        found = self.page.evaluate("() => { const s = window.seen; window.seen = []; return s; }")
        return [(int(number), at / 1000) for number, at in found]

    def right_again(self, written: dict[int, float]) -> float:
        """Cut the websockets; seconds until a number stands there that was written since."""
        self.seen()
        cut = time.time()
        self.line.cut()
        deadline = cut + 20
        while time.time() < deadline:
            time.sleep(0.05)
            for number, at in self.seen():
                if written.get(number, 0) > cut:
                    return at - cut
        raise AssertionError("the page never was right again")


class Line:
    """Passes bytes on between a browser and Headrace, until it is cut; then takes new callers."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._writers: set[asyncio.StreamWriter] = set()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._call, "127.0.0.1", 0), self._loop
        ).result()
        self.port = server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        for writer in list(self._writers):
            self._loop.call_soon_threadsafe(writer.transport.abort)

    async def _call(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers |= {writer, there}
        await asyncio.gather(
            self._pass(reader, there), self._pass(there_reader, writer), return_exceptions=True
        )
        self._writers -= {writer, there}

    @staticmethod
    async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()


_WATCH_THE_CARD = """
window.seen = [];
new MutationObserver(() => {
  const card = document.querySelector('[data-id="%s"] [data-testid="step-count"]');
  const number = card?.getAttribute("data-count");
  if (number && number !== window.last) {
    window.last = number;
    window.seen.push([number, Date.now()]);
  }
}).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
"""


@contextmanager
def browser(headrace: Headrace, id_: str) -> Iterator[Page]:
    """Chromium on the page of a deployment."""
    from playwright.sync_api import sync_playwright

    from tests.e2e.chromium import launch

    line = Line(headrace.port)
    with sync_playwright() as playwright:
        started = launch(playwright)
        context = started.new_context(base_url=f"http://127.0.0.1:{line.port}")
        context.add_init_script(_WATCH_THE_CARD % SINK)
        page = context.new_page()
        page.goto("/")
        page.get_by_label("User name").fill(headrace.user)
        page.get_by_label("Password").fill(headrace.password)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url("**/")
        page.goto(f"/deployments/{id_}")
        page.get_by_test_id("step-count").first.wait_for(timeout=30_000)
        yield Page(page, line)
        started.close()


@contextmanager
def slow_reader(headrace: Headrace, ids: list[str]) -> Iterator[None]:
    """A browser that opens a websocket and takes nothing in."""
    import socket

    lazy = []
    for path in ("/ws/deployments", f"/ws/deployments/{ids[0]}"):
        line = socket.socket()
        # The least that the kernel takes for it.
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        line.connect(("127.0.0.1", headrace.port))
        request = (
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{headrace.port}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            f"Authorization: {headrace.session.headers['Authorization']!s}\r\n\r\n"
        )
        line.sendall(request.encode())
        lazy.append(line)
    try:
        yield
    finally:
        for line in lazy:
            line.close()


# --- Measuring


def _round(
    headrace: Headrace,
    page: Page,
    written: dict[int, float],
    watchers: list["subprocess.Popen[bytes]"],
    seconds: float,
) -> Json:
    processes = _processes(headrace)
    page.seen()
    before = {name: _cpu(found) for name, found in processes.items()}
    began = time.time()
    time.sleep(seconds)
    ended = time.time()
    used = {
        name: {
            "cpu": round((_cpu(found) - before[name]) / (ended - began), 2),
            "megabytes": round(_memory(found) / 2**20),
        }
        for name, found in processes.items()
    }
    # What was written in this round and has had time to come.
    last = ended - 1
    of_round = {n: at for n, at in written.items() if began <= at <= last}
    in_page = [(at - of_round[n]) * 1000 for n, at in page.seen() if n in of_round]
    at_sockets, gaps = [], 0
    for file in sorted(headrace.data.glob("seen-*.jsonl")):
        for line in file.read_text().splitlines():
            seen = json.loads(line)
            if "gap" in seen:
                gaps += 1
            elif seen["number"] in of_round:
                at_sockets.append((seen["at"] - of_round[seen["number"]]) * 1000)
    assert all(w.poll() is None for w in watchers), "a watcher has ended"
    return {
        "written": len(of_round),
        "page": _spread(in_page),
        "sockets": _spread(at_sockets),
        "gaps": gaps,
        "processes": used,
    }


def _processes(headrace: Headrace) -> dict[str, list[int]]:
    words = {"web": "builder.asgi", "control worker": "--queues control", "redis": "redis"}
    found = {name: headrace.pids(w) for name, w in words.items()}
    assert all(found.values()), found
    return found


def _cpu(pids: list[int]) -> float:
    """Seconds of processor time that the processes have used."""
    ticks = 0
    for pid in pids:
        # The name, which stands in brackets, may have spaces.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _memory(pids: list[int]) -> int:
    """Resident bytes of the processes, those that they share counted for each."""
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return pages * os.sysconf("SC_PAGE_SIZE")


def _spread(values: list[float]) -> Json:
    assert values, "nothing was seen"
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {
        "seen": len(values),
        "p50": round(cuts[49]),
        "p95": round(cuts[94]),
        "longest": round(max(values)),
    }


def _say(found: Json) -> None:
    print(f"{found['deployments']} deployments, {found['browsers']} browsers")
    for name in ("alone", "beside a slow browser"):
        about = found[name]
        print(f"{name}: {about['written']} events, {about['gaps']} gaps")
        for where in ("page", "sockets"):
            spread = about[where]
            met = "met" if spread["p95"] <= LIMIT_MS else "missed"
            print(
                f"  {where}: p50 {spread['p50']} ms, p95 {spread['p95']} ms ({met}), longest"
                f" {spread['longest']} ms, of {spread['seen']}"
            )
        for process, used in about["processes"].items():
            print(f"  {process}: {used['cpu']:.2f} of a core, {used['megabytes']} MB")
    again = found["right again after"]
    met = "met" if max(again) <= RIGHT_AGAIN_SECONDS else "missed"
    print(f"right again after {', '.join(f'{s:.2f}' for s in again)} s ({met})")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--deployments", type=int, default=20)
    parser.add_argument("--browsers", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--watch", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
