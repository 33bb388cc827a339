"""Who runs the workloads: what Headrace compiles, Spark by hand, Spark as it comes, Kafka Streams.

Every job is processes of its own, which `stop` ends.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from builder.local import process
from builder.local.java import java_home
from runner import launch
from runner.compile import compile_job
from runner.events import read_events
from runner.graph import read_graph
from runner.jars import spark_jars
from runner.plan import AskedMode
from runner.problems import InvalidGraph
from tests.bench.load import Silent
from tests.bench.workloads import WORKLOADS, Topics, graph

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
JARS = Path(sys.prefix) / "bench"


class CantCompile(Exception):
    """Headrace refuses the graph; the text says why."""


@dataclass(frozen=True)
class Place:
    """Where a job runs: broker, topics, a folder of its own; `interval` between checkpoints."""

    servers: str
    topics: Topics
    folder: Path
    workload: str
    interval: str


class Job(Protocol):
    """A job that was started, in a process group of its own.

    `checkpoints` are the folders of its real-time queries.
    """

    @property
    def checkpoints(self) -> list[Path]: ...

    @property
    def group(self) -> int: ...

    def wait_until_ready(self) -> None: ...

    def is_alive(self) -> bool: ...

    def stop(self) -> None: ...

    def log(self) -> str: ...


@dataclass(frozen=True)
class Contestant:
    """A way to run workloads. One that `merges` may answer several records with one count."""

    name: str
    start: Callable[[Place], Job]
    workloads: tuple[str, ...] = WORKLOADS
    merges: bool = False


@dataclass
class HostedJob:
    """A job that Headrace compiled, launched as a deployment's run is."""

    place: Place
    process: launch.JobProcess
    checkpoints: list[Path]
    events: list[Any] = field(default_factory=list)
    offset: int = 0

    @property
    def group(self) -> int:
        return self.process.pid

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            alive = self.is_alive()
            new, self.offset = read_events(self.place.folder / "run/events.jsonl", self.offset)
            states = [e for e in new if e["type"] == "state"]
            if any(e["state"] == "running" for e in states):
                return
            if not alive:
                raise Silent(f"The job ended before it ran: {states[-1:]}")
            time.sleep(0.1)
        raise Silent("The job did not run after three minutes.")

    def is_alive(self) -> bool:
        return launch.is_alive(self.process)

    def stop(self) -> None:
        launch.stop(self.process)
        deadline = time.monotonic() + 15
        while self.is_alive() and time.monotonic() < deadline:
            time.sleep(0.1)
        launch.kill(self.process)

    def log(self) -> str:
        return process.tail(self.place.folder / "run" / "log.txt")


@dataclass
class OwnJob:
    """A program that prints `ready`, started in a session of its own."""

    process: "subprocess.Popen[bytes]"
    file: Path
    checkpoints: list[Path]

    @property
    def group(self) -> int:
        return self.process.pid

    def wait_until_ready(self) -> None:
        def ready() -> bool:
            return b"ready" in self.file.read_bytes().splitlines()

        try:
            process.wait_until(ready, self.process, self.file, name="The job", seconds=180)
        except process.DidNotStart as trouble:
            # Its log, which the text ends with, is told in any case.
            raise Silent(str(trouble).splitlines()[0]) from None

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> None:
        process.stop(self.process)

    def log(self) -> str:
        return process.tail(self.file)


def compiled(mode: AskedMode, on_bad_record: str = "skip") -> Callable[[Place], Job]:
    """Start what Headrace makes of the workload's graph; raises CantCompile."""

    def start(place: Place) -> Job:
        name = f"bench-{uuid.uuid4().hex[:8]}"
        connections = {"local": {"type": "kafka", "bootstrap_servers": place.servers}}
        try:
            read = read_graph(graph(place.workload, place.topics, on_bad_record))
            job = compile_job(
                read,
                name=name,
                connections=connections,
                mode=mode,
                checkpoint_interval=place.interval,
            )
        except InvalidGraph as invalid:
            said = dict.fromkeys(f"{p.step}: {p.message}" for p in invalid.problems)
            raise CantCompile(" ".join(said)) from None
        about = {
            "deployment": str(uuid.uuid4()),
            "run": str(uuid.uuid4()),
            "name": name,
            "epoch": 1,
            "graph": read.meaning(),
            "segments": [s.as_json() for s in job.segments],
            "topics": list(job.topics),
            "conf": dict(job.conf),
            "connections": connections,
            "checkpoints": str(place.folder / "checkpoints"),
            "master": None,
            "jars": [str(jar) for jar in spark_jars()],
        }
        run = place.folder / "run"
        run.mkdir(parents=True)
        (run / "job.py").write_text(job.script)
        (run / "run.json").write_text(json.dumps(about))
        real_time = [s.checkpoint for s in job.segments if s.mode == "real_time"]
        folders = [place.folder / "checkpoints" / checkpoint for checkpoint in real_time]
        return HostedJob(place, launch.launch(run), folders)

    return start


def by_hand(style: str, *, ids: bool = False) -> Callable[[Place], Job]:
    """Start the workload of by_hand.py in one of its styles, its outputs with or without ids."""

    def start(place: Place) -> Job:
        checkpoint = place.folder / "checkpoint"
        options = {
            "workload": place.workload,
            "style": style,
            "interval": place.interval,
            "servers": place.servers,
            "records": place.topics.records,
            "table": place.topics.table,
            "outputs": place.topics.outputs,
            "checkpoint": str(checkpoint),
        }
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        words += ["--ids"] if ids else []
        env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        env["JAVA_HOME"] = str(java_home())
        file = place.folder / "log.txt"
        command = [sys.executable, "-m", "tests.bench.by_hand", *words]
        return OwnJob(
            _started(command, file, env), file, [checkpoint] if style == "real-time" else []
        )

    return start


def kafka_streams(guarantee: str) -> Callable[[Place], Job]:
    """Start the workload of kafka_streams/Jobs.java."""

    def start(place: Place) -> Job:
        classpath = [JARS / "classes", *sorted((JARS / "streams").glob("*.jar"))]
        command: list[str | Path] = [
            java_home() / "bin" / "java",
            "-Xmx512m",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-cp",
            os.pathsep.join(map(str, classpath)),
            "Jobs",
            place.workload,
            guarantee,
            place.servers,
            place.topics.records,
            place.topics.table,
            place.topics.outputs,
            place.folder / "state",
        ]
        file = place.folder / "log.txt"
        return OwnJob(_started(command, file), file, [])

    return start


def _started(
    command: Sequence[str | Path], file: Path, env: Mapping[str, str] | None = None
) -> "subprocess.Popen[bytes]":
    """Start a job in a session of its own, as Headrace does, with its output in `file`.

    Linux shares the processor out among sessions first: a job in that of the broker and of the
    load would be treated unlike one in its own.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    leash = [setpriv, "--pdeathsig", "TERM", "--"] if (setpriv := shutil.which("setpriv")) else []
    with file.open("ab") as out:
        return subprocess.Popen(
            [*leash, *command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=ROOT,
            start_new_session=True,
        )


COMPILED = "compiled"
BY_HAND = "by hand"
KAFKA_STREAMS = "Kafka Streams"
COMPILED_BATCHES = "compiled micro-batch"
TUNED_BATCHES = "tuned micro-batch"
STOCK = "stock"

CONTESTANTS = (
    Contestant(COMPILED, compiled("real_time")),
    Contestant(BY_HAND, by_hand("real-time", ids=True)),
    Contestant("by hand without ids", by_hand("real-time")),
    Contestant(KAFKA_STREAMS, kafka_streams("at_least_once")),
    Contestant("Kafka Streams exactly-once", kafka_streams("exactly_once_v2")),
    Contestant("compiled with dead letters", compiled("real_time", "dead_letter"), ("filter",)),
    Contestant(COMPILED_BATCHES, compiled("micro_batch"), ("count",), merges=True),
    Contestant(TUNED_BATCHES, by_hand("tuned"), ("count",), merges=True),
    Contestant(STOCK, by_hand("stock"), ("filter", "count"), merges=True),
)


def prepare() -> None:
    """Resolve Kafka Streams and a Java compiler, and compile Jobs.java, unless it is done.

    As `make up` does for runner/ivy.xml, with the Ivy that PySpark carries.
    """
    sources = [HERE / "ivy.xml", HERE / "kafka_streams" / "Jobs.java"]
    stamp = JARS / "made-of"
    wanted = hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    shutil.rmtree(JARS, ignore_errors=True)
    JARS.mkdir()
    import pyspark

    ivy = next((Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar"))
    java = java_home() / "bin" / "java"
    resolve: list[str | Path] = [java, "-jar", ivy, "-ivy", HERE / "ivy.xml"]
    resolve += ["-types", "jar", "bundle"]
    if settings := os.environ.get("HEADRACE_IVY_SETTINGS"):
        resolve += ["-settings", settings]
    _run([*resolve, "-retrieve", f"{JARS}/[conf]/[artifact]-[revision].[ext]"])
    streams = os.pathsep.join(str(jar) for jar in (JARS / "streams").glob("*.jar"))
    compiler = next((JARS / "compiler").glob("ecj-*.jar"))
    compile_: list[str | Path] = [java, "-jar", compiler, "-17", "-nowarn", "-cp", streams]
    _run([*compile_, "-d", JARS / "classes", HERE / "kafka_streams"])
    stamp.write_text(wanted)


def _run(command: list[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stdout[-3000:]}{done.stderr[-3000:]}\n{command[0]} failed.")
