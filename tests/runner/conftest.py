"""One real Kafka for all tests of the runner that need it, and jobs as real processes on it."""

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from builder.local.kafka import start_kafka
from builder.local.process import Server
from runner import launch
from runner.compile import compile_job
from runner.events import Event, read_events
from runner.graph import read_graph
from runner.jars import spark_jars
from runner.plan import AskedMode
from tests.runner.scenario import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A broker that lives as long as the tests."""
    with start_kafka(tmp_path_factory.mktemp("kafka")) as server:
        yield server


@pytest.fixture(scope="session")
def broker(kafka: Server) -> str:
    """The bootstrap servers of the broker."""
    return kafka.url


@pytest.fixture(scope="module")
def spark() -> "SparkSession":
    """A session of the tests' Spark for a few rows at a time."""
    from runner.analyze import warm_session

    session = warm_session().newSession()
    # So that keys leave in their order.
    session.conf.set("spark.sql.shuffle.partitions", "1")
    # Compiling a plan takes longer than interpreting it for a few rows.
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    return session


@dataclass
class LiveJob:
    """A deployment's folder, the process of its newest run, and what it has said."""

    folder: Path
    about: dict[str, Any]
    script: str
    secrets: dict[str, Any] = field(default_factory=dict)
    epoch: int = 0
    process: launch.JobProcess | None = None
    events: list[Event] = field(default_factory=list)
    offset: int = 0

    @property
    def run(self) -> Path:
        return self.folder / "runs" / str(self.epoch)

    def start(self, **about: Any) -> "LiveJob":
        """Launch a run of its own folder on the checkpoints of those before."""
        self.epoch += 1
        self.run.mkdir(parents=True)
        (self.run / "job.py").write_text(self.script)
        (self.run / "run.json").write_text(json.dumps({**self.about, "epoch": self.epoch, **about}))
        if self.secrets:
            (self.run / launch.SECRETS).write_text(json.dumps(self.secrets))
        self.events, self.offset = [], 0
        self.process = launch.launch(self.run)
        return self

    def read(self) -> list[Event]:
        new, self.offset = read_events(self.run / "events.jsonl", self.offset)
        self.events += new
        return self.events

    def of_type(self, type_: str) -> list[Event]:
        return [e for e in self.read() if e["type"] == type_]

    @property
    def state(self) -> str:
        states = self.of_type("state")
        return states[-1]["state"] if states else "nothing said yet"

    @property
    def counts(self) -> dict[str, Any]:
        metrics = self.of_type("metrics")
        return metrics[-1]["steps"] if metrics else {}

    def log(self) -> str:
        return (self.run / "log.txt").read_text()

    def exit(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads((self.run / "exit.json").read_text())
        return said

    @property
    def is_alive(self) -> bool:
        return self.process is not None and launch.is_alive(self.process)

    def wait_for(self, state: str, seconds: float = 150) -> "LiveJob":
        def missing() -> str | None:
            if state in [e["state"] for e in self.of_type("state")]:
                return None
            assert self.is_alive, f"ended before it was {state}:\n{self.events}\n{self.log()}"
            return f"not {state} but {self.state}:\n{self.log()[-3000:]}"

        wait_until(missing, seconds)
        return self

    def wait_for_out(self, step: str, rows: int, seconds: float = 90) -> None:
        def missing() -> str | None:
            counted = self.counts.get(step, {}).get("out", 0)
            return None if counted >= rows else f"{step} has {counted} of {rows}"

        wait_until(missing, seconds)

    def wait_for_end(self, seconds: float = 60) -> dict[str, Any]:
        wait_until(lambda: f"alive:\n{self.log()[-3000:]}" if self.is_alive else None, seconds)
        self.read()
        return self.exit()

    def stop(self) -> dict[str, Any]:
        assert self.process is not None
        assert launch.stop(self.process)
        return self.wait_for_end(15)

    def kill(self) -> None:
        if self.process is not None:
            launch.kill(self.process)


MakeJob = Callable[..., LiveJob]


@pytest.fixture
def make_job(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeJob]:
    """Folders of deployments, whose processes end with the test."""
    made: list[LiveJob] = []

    def make(
        graph: dict[str, Any],
        *,
        mode: AskedMode = "auto",
        interval: str = "5 seconds",
        servers: str | None = None,
        cluster: dict[str, Any] | None = None,
        secrets: dict[str, Any] | None = None,
        change: Callable[[str], str] = lambda script: script,
    ) -> LiveJob:
        read = read_graph(graph)
        name = f"job-{uuid.uuid4().hex[:8]}"
        if cluster is None:
            at = servers or request.getfixturevalue("broker")
            cluster = {"type": "kafka", "bootstrap_servers": at}
        connections = {"local": cluster}
        job = compile_job(
            read, name=name, connections=connections, mode=mode, checkpoint_interval=interval
        )
        folder = tmp_path / name
        about = {
            "deployment": str(uuid.uuid4()),
            "run": str(uuid.uuid4()),
            "name": name,
            "graph": read.meaning(),
            "segments": [s.as_json() for s in job.segments],
            "topics": list(job.topics),
            "conf": dict(job.conf),
            "connections": connections,
            "checkpoints": str(folder / "checkpoints"),
            "master": None,
            "jars": [str(jar) for jar in spark_jars()],
        }
        made.append(LiveJob(folder, about, change(job.script), secrets or {}))
        return made[-1]

    yield make
    for job in made:
        job.kill()
