"""Jobs on a Spark cluster of its own: a master and two workers, one of which is killed."""

import json
import os
import signal
import socket
import subprocess
import urllib.request
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyspark
import pytest

from builder.local.process import start, stop
from tests.runner.scenario import long, make_topics, read_all, wait_until, write

pytestmark = long

CORES = 4
WORDS = ("all", "some", "few")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class Cluster:
    """Spark's own master, and workers of four cores and 1 GB each."""

    folder: Path
    port: int = field(default_factory=free_port)
    page: int = field(default_factory=free_port)
    workers: list["subprocess.Popen[bytes]"] = field(default_factory=list)
    started: int = 0

    @property
    def url(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def begin(self) -> None:
        pages = ["--webui-port", str(self.page)]
        address = ["--host", "127.0.0.1", "--port", str(self.port)]
        self.master = self._start("master.Master", [*address, *pages])
        self.until_workers(0)

    def start_worker(self) -> None:
        self.started += 1
        work = self.folder / f"work-{self.started}"
        size = ["--cores", str(CORES), "--memory", "1g", "--work-dir", str(work)]
        address = ["--host", "127.0.0.1", "--webui-port", str(free_port())]
        self.workers.append(self._start("worker.Worker", [*address, *size, self.url]))

    def kill_worker(self) -> None:
        """End a worker and the executors on it at once, as a machine that is gone does."""
        worker = self.workers.pop()
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def until_workers(self, count: int) -> None:
        def check() -> str | None:
            alive = sum(w["state"] == "ALIVE" for w in self.said()["workers"])
            return None if alive == count else f"{alive} of {count} workers"

        wait_until(lambda: check() if self._answers() else "the master does not answer", 30)

    def said(self) -> dict:
        """What the master says of its workers and applications."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.page}/json/", timeout=5) as answer:
            return json.loads(answer.read())

    def end(self) -> None:
        for process in (*self.workers, self.master):
            stop(process, 5)

    def _answers(self) -> bool:
        assert self.master.poll() is None, (self.folder / "log.txt").read_text()
        try:
            self.said()
        except OSError:
            return False
        return True

    def _start(self, daemon: str, arguments: list[str]) -> "subprocess.Popen[bytes]":
        command = [
            Path(pyspark.__path__[0]) / "bin" / "spark-class",
            f"org.apache.spark.deploy.{daemon}",
            *arguments,
        ]
        env = {**os.environ, "SPARK_DAEMON_MEMORY": "200m", "SPARK_LOCAL_IP": "127.0.0.1"}
        return start(command, self.folder / "log.txt", env=env)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("spark"))
    made.begin()
    try:
        for _ in range(2):
            made.start_worker()
        yield made
    finally:
        made.end()


def word_count(lines: str, counts: str) -> dict:
    local = {"connection": "local"}
    count = [{"name": "count", "function": "count"}]
    return {
        "version": 1,
        "steps": [
            {"id": "lines", "type": "kafka_source",
             "config": {**local, "topics": [lines], "format": "text"}},
            {"id": "words", "type": "explode",
             "config": {"expression": "split(value, ' ')", "as": "word"}},
            {"id": "counts", "type": "aggregate",
             "config": {"group_by": ["word"], "aggregations": count}},
            {"id": "out", "type": "kafka_sink", "config": {**local, "topic": counts}},
        ],
        "edges": [
            {"from": "lines", "to": "words"},
            {"from": "words", "to": "counts"},
            {"from": "counts", "to": "out"},
        ],
    }  # fmt: skip


@pytest.mark.parametrize("mode", ["micro_batch", "real_time"])
def test_counts_stay_exact_when_a_worker_is_killed(broker, cluster, make_job, mode):
    unique = uuid.uuid4().hex[:8]
    lines, counts = f"lines-{unique}", f"counts-{unique}"
    make_topics(broker, [lines], partitions=1)
    expected: Counter[str] = Counter()

    def produce(name: str) -> None:
        values = [f"{WORDS[n % 3]} {name}-{n}" for n in range(200)]
        expected.update(word for value in values for word in value.split())
        write(broker, lines, values)

    def differing() -> str | None:
        found = {row["word"]: row["count"] for row in read_all(broker, [counts])}
        wrong = {w: (n, found.get(w)) for w, n in expected.items() if found.get(w) != n}
        return f"expected and found: {list(wrong.items())[:5]}" if wrong else None

    cluster.until_workers(2)
    job = make_job(word_count(lines, counts), mode=mode)
    profile = {"spark.cores.max": str(2 * CORES), "spark.executor.memory": "600m"}
    on_cluster = {"master": cluster.url, "conf": {**job.about["conf"], **profile}}
    produce("first")
    job.start(**on_cluster).wait_for("running")
    (application,) = cluster.said()["activeapps"]
    assert application["cores"] == 2 * CORES, "both workers work for it"
    wait_until(differing, 90)
    produce("second")
    cluster.kill_worker()
    produce("third")

    restarts = 0

    def settled() -> str | None:
        nonlocal restarts
        if not job.is_alive:
            # As the reconciler does: a run that lost its place is begun again from there.
            assert restarts < 3, f"{job.exit()}\n{job.log()[-3000:]}"
            assert not job.exit()["permanent"], job.exit()
            restarts += 1
            job.start(**on_cluster)
        return differing()

    wait_until(settled, 120)
    assert job.stop()["code"] == 0
    cluster.start_worker()
