"""The job process: `python -m runner.host <folder of the run>`, as `launch` starts it.

It holds the checkpoints' lock, makes ready what the job needs of Kafka, makes the Spark session,
runs the frozen `job.py` in it and says in `events.jsonl` what happens. A run that stands by for
another makes all ready first, says so with a file, and takes the lock as soon as the other lets
go of it. Java holds the lock too, so nobody else has it before all of a job is gone.

The time of change of `events.jsonl` is the heartbeat: while the job lives it is renewed at least
every five seconds, by a `metrics` event or, where nothing is new, by a mere touch. The job ends
with `exit.json` and an exit code: 0 stopped as asked, 65 permanent, 75 the world's fault, else a
crash.
"""

import contextlib
import fcntl
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from runner.checkpoint import described, newest_offsets, query_id, unfinished
from runner.class_archive import java_options
from runner.events import READY, EventLog
from runner.graph import Graph, read_graph
from runner.kafka_login import options_key, spark_options
from runner.launch import IDENTITY, SECRETS, this_process
from runner.metrics import Metrics
from runner.samples import ConsoleTopics, Output, Samples
from runner.slots import slots
from runner.spark_errors import Cause, Judged, causes, judge
from runner.topics import NotReady, delete_internal, make_ready

STOPPED, PERMANENT, WORLD, CRASH = 0, 65, 75, 1
_CODES = {"permanent": PERMANENT, "world": WORLD, "crash": CRASH}

# A job that was killed leaves a Java process behind that ends a moment later.
LOCK_SECONDS = 20
# How long a run waits, ready, for the one that it replaces.
TAKE_OVER_SECONDS = 180
# Beside the checkpoints.
LOCK = "lock"
# From SIGTERM to the end.
STOP_SECONDS = 8
BEAT_SECONDS = 5
DELAYS_SECONDS = 3
MAX_LOG = 20 * 2**20

# Set whatever the program says: expressions read neither the environment nor files, nothing
# listens to the network, nothing piles up in memory.
CONF = {
    "spark.sql.variable.substitute": "false",
    "spark.sql.runSQLOnFiles": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "WARN",
    "spark.sql.ui.retainedExecutions": "20",
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "500",
    "spark.sql.streaming.numRecentProgressUpdates": "5",
    "spark.sql.streaming.stopTimeout": f"{STOP_SECONDS - 2}s",
    # Spark's own words of options and settings, with those by which one logs in.
    "spark.redaction.regex": (
        r"(?i)secret|password|passwd|token|access[.]?key|jaas|keystore|headrace[.]connection"
    ),
}


# It warns twice a second that rows are larger than the buffer that the planner has chosen.
QUIET = "org.apache.spark.shuffle.streaming.StreamingShuffleWriter"


class _Ended(Exception):
    """The job is over: with this code, for this reason."""

    def __init__(self, code: int, message: str, step: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.step = step


class _Host:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run: dict[str, Any] = json.loads((folder / "run.json").read_text())
        self.run["connections"] = _opened(self.run["connections"], folder / SECRETS)
        self.graph: Graph = read_graph(self.run["graph"])
        self.events = EventLog(folder / "events.jsonl")
        self.metrics = Metrics(self.graph, self.run["segments"])
        self.samples = Samples(self.run.get("masks", ()))
        self.asked_to_stop = threading.Event()
        self.ended = threading.Event()
        self.ending = threading.Lock()
        self.java_is_starting = False
        self.running = False
        self.how = _how(s["mode"] for s in self.run["segments"])
        self.spark: Any = None
        self.progress: Any = None
        self.gateway: Any = None

    def state(self, state: str, message: str, step: str | None = None) -> None:
        self.events.write({"type": "state", "state": state, "message": message, "step": step})

    def log(self, message: str, level: str = "info") -> None:
        self.events.write({"type": "log", "level": level, "message": message})

    def live(self) -> None:
        """Run the job to its end; always raises _Ended."""
        threading.Thread(target=self._stop_when_asked, daemon=True).start()
        checkpoints = Path(self.run["checkpoints"])
        lock = _lock_of(checkpoints)
        self.state("starting", "Waiting for Kafka.")
        if not self.run.get("standby"):
            self._hold(lock, LOCK_SECONDS)
            self._begin_anew(checkpoints)
        partitions = self._topics()
        self._unless_stopped()
        self.state("starting", "Starting Spark.")
        self._start_spark(_slots(self.graph, self.run["segments"], partitions), lock)
        self._unless_stopped()
        if self.run.get("standby"):
            # Whoever started this one looks for the file, and then has the other stopped.
            (self.folder / READY).touch()
            self.state("starting", "Ready; waiting for the run that this one replaces.")
            self._hold(lock, TAKE_OVER_SECONDS)
            if self._begin_anew(checkpoints):
                self._topics()
        self.state("starting", "Starting the queries.")
        console = self._console_topics()
        threads = [
            threading.Thread(target=self._tell, daemon=True),
            threading.Thread(target=self._follow_kafka, args=(console,), daemon=True),
            threading.Thread(target=self._measure_delays, daemon=True),
        ]
        for thread in threads:
            thread.start()
        self._run_program()

    def _hold(self, lock: int, seconds: float) -> None:
        """Hold the checkpoints, when whoever does lets go of them."""
        deadline = time.monotonic() + seconds
        while True:
            self._unless_stopped()
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            if time.monotonic() > deadline:
                raise _Ended(
                    WORLD, "Another process of this deployment still runs on its checkpoints."
                )
            time.sleep(0.02)

    def _begin_anew(self, checkpoints: Path) -> bool:
        """Where the run is to be fresh: forget checkpoints, and what stands between segments."""
        if not self.run.get("fresh"):
            return False
        try:
            delete_internal(self.run["topics"], self.run["connections"], self.run["name"])
        except NotReady as trouble:
            raise _Ended(WORLD, trouble.message, trouble.step) from None
        # The topics first: checkpoints without them would only read on, topics without
        # checkpoints would be read from their beginning.
        for path in checkpoints.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != LOCK:
                path.unlink()
        self.log("Forgot the checkpoints and what stood in internal topics, as asked.")
        return True

    def _topics(self) -> dict[str, int]:
        segments = self.run["segments"]

        def beside(step: str, other: str) -> bool:
            return any(step in s["steps"] and other in s["steps"] for s in segments)

        try:
            return make_ready(self.run["topics"], self.run["connections"], self.log, beside)
        except NotReady as trouble:
            for problem, topic in trouble.topics:
                self.events.write({"type": "problem", **problem.as_json(), "topic": topic})
            code = PERMANENT if trouble.permanent else WORLD
            raise _Ended(code, trouble.message, trouble.step) from None

    def _start_spark(self, slots: int, lock: int) -> None:
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway
        from pyspark.sql import SparkSession

        settings = {**self.run["conf"], **CONF}
        settings["spark.headrace.checkpoints"] = self.run["checkpoints"]
        for name, connection in self.run["connections"].items():
            if "bootstrap_servers" in connection:
                settings[f"spark.headrace.connection.{name}"] = connection["bootstrap_servers"]
                settings[options_key(name)] = json.dumps(spark_options(connection))
        if (self.run["master"] or "local").startswith("local"):
            # No port of a job on one machine is open to others.
            os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
            settings["spark.driver.host"] = "127.0.0.1"
            # A machine that slept has heard no heartbeat of its own, and goes on all the same.
            settings["spark.storage.blockManagerHeartbeatTimeoutMs"] = "7d"
        # Only what Java must know before it starts: anybody on the machine can read a command line.
        command = SparkConf(loadDefaults=False).set("spark.jars", ",".join(self.run["jars"]))
        if "spark.driver.memory" in settings:
            command.set("spark.driver.memory", settings["spark.driver.memory"])
        options = f"{java_options()} {settings.get('spark.driver.extraJavaOptions', '')}"
        command.set("spark.driver.extraJavaOptions", options.strip())
        os.environ[IDENTITY] = str(this_process())
        # Java holds the lock too: were this process killed, none could begin before it is gone.
        self.java_is_starting = True
        self.gateway = launch_gateway(  # type: ignore[no-untyped-call]
            command, {"pass_fds": (lock,)}
        )
        self.java_is_starting = False
        # The gateway first: a configuration made before would not reach Java.
        SparkContext._ensure_initialized(gateway=self.gateway)
        conf = SparkConf().setMaster(self.run["master"] or f"local[{slots}]")
        conf.setAppName(self.run["name"]).setAll(list(settings.items()))
        self.spark = SparkSession(SparkContext(conf=conf))
        log4j = self.spark._jvm.org.apache.logging.log4j
        log4j.core.config.Configurator.setLevel(QUIET, log4j.Level.ERROR)
        self.progress = self.spark._jvm.headrace.Progress.of(self.spark._jsparkSession)

    def _console_topics(self) -> list[ConsoleTopics]:
        by_connection: dict[str, dict[str, str]] = {}
        for topic in self.run["topics"]:
            if topic["use"] == "console":
                by_connection.setdefault(topic["connection"], {})[topic["topic"]] = topic["step"]
        return [
            ConsoleTopics(self.run["connections"][c], steps, self.samples)
            for c, steps in by_connection.items()
        ]

    def _run_program(self) -> None:
        program = str(self.folder / "job.py")
        sys.stdout = Output(sys.__stdout__, self.samples.add, self.metrics.printed)  # type: ignore[arg-type]
        try:
            runpy.run_path(program, run_name="__main__")
        except SystemExit as end:
            raise _Ended(CRASH, f"The program ended by itself ({end.code}).") from None
        except Exception as error:
            if self.asked_to_stop.is_set():
                raise _Ended(STOPPED, "Stopped.") from None
            traceback.print_exc()
            raise self._judged(error) from None
        if self.asked_to_stop.is_set():
            raise _Ended(STOPPED, "Stopped.")
        raise _Ended(CRASH, "A query ended though nobody asked it to.")

    def _judged(self, error: Exception) -> _Ended:
        is_cut_off = isinstance(error, ConnectionError)
        if self._java_is_gone(wait=is_cut_off or type(error).__name__ == "Py4JNetworkError"):
            return _Ended(CRASH, "Java, which runs Spark, ended: killed, or out of memory.")
        source = (self.folder / "job.py").read_text()
        steps = [step.id for step in self.graph.in_order]
        chain = causes(error)
        judged: Judged = judge(chain, source, steps)
        message = judged.message
        if judged.of_row:
            message = f"{message} {self._reading(chain)}".strip()
        return _Ended(_CODES[judged.fault], message, judged.step)

    def _reading(self, chain: list[Cause]) -> str:
        """Which records the query was at that these errors ended."""
        for checkpoint in Path(self.run["checkpoints"]).glob("*/metadata"):
            id_ = query_id(checkpoint.parent)
            if id_ and any(f"id = {id_}" in cause.message for cause in chain):
                return described(unfinished(checkpoint.parent))
        return ""

    def _unless_stopped(self) -> None:
        if self.asked_to_stop.is_set():
            raise _Ended(STOPPED, "Stopped before it ran.")

    def _tell(self) -> None:
        """Once a second: what is new, into the events."""
        told = 0.0
        begun: set[str] = set()
        wanted = {s["id"]: s["mode"] for s in self.run["segments"]}
        while not self.ended.wait(1):
            try:
                reading = self._take_progress()
                if not self.running or begun < wanted.keys():
                    queries = {q.name: q for q in self.spark.streams.active}
                    self._see_begun(queries, begun)
                    self._see_running(queries, wanted, reading)
            except Exception:
                if self.asked_to_stop.is_set() or self.ended.is_set():
                    return
                # Java is about to go; the main thread hears of it and says why.
                traceback.print_exc()
            told = self._write_news(told)
            _bounded(self.folder / "log.txt")

    def _take_progress(self) -> set[str]:
        """Take in what the queries have done; returns the segments that read in real time now."""
        for report in json.loads(self.progress.ended()):
            self.metrics.batch_ended(report)
        reading = set()
        if any(s["mode"] == "real_time" for s in self.run["segments"]):
            for batch in json.loads(self.progress.underWay()):
                about = batch["segment"], batch["batch"], batch["out"], batch["read"]
                self.metrics.under_way(*about)
                if batch["reading"]:
                    reading.add(batch["segment"])
        return reading

    def _take_last_progress(self) -> None:
        if self.progress is None or self._java_is_gone(wait=False):
            return
        from py4j.protocol import Py4JError

        try:
            self._take_progress()
        except (OSError, Py4JError):
            # Java went meanwhile; how the job ended is told all the same.
            traceback.print_exc()

    def _see_begun(self, queries: dict[str, Any], begun: set[str]) -> None:
        for name in queries.keys() - begun:
            if offsets := newest_offsets(_checkpoint_of(queries[name])):
                self.metrics.begins_at(name, offsets)
                begun.add(name)

    def _see_running(
        self, queries: dict[str, Any], wanted: dict[str, str], reading: set[str]
    ) -> None:
        if self.running or not wanted.keys() <= queries.keys():
            return
        self.running = all(
            name in reading if mode == "real_time" else _processes(queries[name])
            for name, mode in wanted.items()
        )
        if self.running and not self.asked_to_stop.is_set():
            self.state("running", self.how)

    def _write_news(self, told: float) -> float:
        now = time.monotonic()
        news = [e for e in (self.metrics.event(), *self.samples.events()) if e is not None]
        for event in news:
            self.events.write(event)
        if not news and now - told >= BEAT_SECONDS:
            self.events.touch()
            return now
        return now if news else told

    def _follow_kafka(self, console: list[ConsoleTopics]) -> None:
        """Once a second: the newest rows of consoles, and how far the topics have come."""
        from confluent_kafka import KafkaException

        from runner.topics import Ends

        ends, away = Ends(self.run["connections"], self.run["topics"]), False
        while not self.ended.wait(1):
            try:
                self.metrics.newest_offsets(ends.of(self.metrics.topic_partitions()))
                for topics in console:
                    topics.read()
            except NotReady as trouble:
                self.metrics.ends_unknown()
                if self.running and not away and not self.asked_to_stop.is_set():
                    self.state("running", f"{trouble.message} The job goes on when it does.")
                    away = True
            except KafkaException:
                # Of a console only; the queries themselves go on.
                continue
            else:
                if away and not self.asked_to_stop.is_set():
                    self.state("running", self.how)
                away = False

    def _measure_delays(self) -> None:
        """Every few seconds: how old what waits is, and how long results take."""
        from confluent_kafka import KafkaException

        from runner.delays import Delays

        delays = Delays(self.run, self.run["connections"], self.metrics)
        while not self.ended.wait(DELAYS_SECONDS):
            # While Kafka is away there is nothing to look at; somebody else tells it.
            with contextlib.suppress(KafkaException):
                delays.look()

    def _stop_when_asked(self) -> None:
        self.asked_to_stop.wait()
        if not self.ended.is_set():
            self.state("stopping", "Stopping.")
        deadline = time.monotonic() + STOP_SECONDS
        modes = {s["id"]: s["mode"] for s in self.run["segments"]}
        told: set[str] = set()
        while not self.ended.wait(0.1) and time.monotonic() < deadline:
            if self.spark is not None:
                # Again and again: the program may still be starting some.
                for query in self.spark.streams.active:
                    if query.id not in told:
                        told.add(query.id)
                        about = (query, modes.get(query.name), deadline - 3)
                        threading.Thread(target=_stop, args=about, daemon=True).start()
            elif not self.java_is_starting:
                break
        if not self.ended.is_set():
            # Nothing runs yet, or the program does not come back from what was stopped.
            self.end(_Ended(STOPPED, "Stopped."))

    def end(self, end: _Ended) -> NoReturn:
        """Say how it ended, see Java gone, and leave."""
        # Never let go of: a second thread that comes here waits until the process is gone.
        self.ending.acquire()
        self.ended.set()
        self._take_last_progress()
        self._write_news(time.monotonic())
        self._end_java()
        if end.code == STOPPED:
            state = "stopped"
        else:
            state = "failed" if end.code == PERMANENT else "backing_off"
        self.state(state, end.message, end.step)
        written = self.folder / "exit.json.new"
        written.write_text(
            json.dumps(
                {
                    "code": end.code,
                    "state": state,
                    "message": end.message,
                    "step": end.step,
                    "permanent": end.code == PERMANENT,
                }
            )
        )
        written.rename(self.folder / "exit.json")
        sys.stdout.flush()
        sys.stderr.flush()
        # Threads may still wait for Java.
        os._exit(end.code)

    def _java_is_gone(self, *, wait: bool) -> bool:
        # Its connections break a moment before it is dead.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.gateway.proc.wait(timeout=5 if wait else 0)
        return self.gateway.proc.poll() is not None

    def _end_java(self) -> None:
        if self.gateway is None:
            return
        java = self.gateway.proc
        # Java ends itself when nobody can write to it any more, and tidies up.
        with contextlib.suppress(OSError):
            java.stdin.close()
        try:
            java.wait(timeout=5)
        except subprocess.TimeoutExpired:
            java.kill()
            java.wait()


def main(folder: Path) -> NoReturn:
    """Run the job of a run's folder until it ends or SIGTERM asks it to stop."""
    host = _Host(folder)

    def asked(number: int, frame: FrameType | None) -> None:
        host.asked_to_stop.set()

    signal.signal(signal.SIGTERM, asked)
    try:
        host.live()
    except _Ended as end:
        host.end(end)
    except Exception as error:
        traceback.print_exc()
        if host.asked_to_stop.is_set():
            host.end(_Ended(STOPPED, "Stopped."))
        host.end(_Ended(CRASH, f"The job ended unexpectedly: {type(error).__name__}."))
    raise AssertionError("a job always says how it ended")


def _opened(connections: dict[str, Any], secrets: Path) -> dict[str, Any]:
    """The connections with their secrets, which are nowhere else from now on."""
    try:
        text = secrets.read_text()
    except FileNotFoundError:
        return connections
    secrets.unlink()
    of = json.loads(text)
    return {name: {**about, **of.get(name, {})} for name, about in connections.items()}


def _lock_of(checkpoints: Path) -> int:
    """The file whose lock says who may use the checkpoints, open and not yet locked."""
    checkpoints.mkdir(parents=True, exist_ok=True)
    return os.open(checkpoints / LOCK, os.O_RDWR | os.O_CREAT, 0o600)


def _slots(graph: Graph, segments: list[dict[str, Any]], partitions: dict[str, int]) -> int:
    """How many tasks must be able to run at once.

    Batches, and tables read beforehand, come and go; four more serve them.
    """
    streamed = {
        id_: count
        for id_, count in partitions.items()
        if id_ not in graph.by_id or graph.by_id[id_].type != "lookup_table"
    }
    taken = sum(slots(segment, streamed) for segment in segments)
    return taken + max(4, os.cpu_count() or 1)


def _processes(query: Any) -> bool:
    """Whether a micro-batch query has begun its first trigger."""
    status = query.status
    return bool(status["isTriggerActive"] or status["message"].startswith("Waiting"))


def _checkpoint_of(query: Any) -> Path:
    root = query._jsq.streamingQuery().resolvedCheckpointRoot()
    return Path(root.removeprefix("file:"))


def _how(modes: Any) -> str:
    found = set(modes)
    if found == {"real_time"}:
        return "Running in real time."
    if found == {"micro_batch"}:
        return "Running in micro-batches."
    return "Running, in real time where it can."


def _stop(query: Any, mode: str | None, deadline: float) -> None:
    """Stop a query; in batches between two of them, so that none is done twice."""
    if mode != "real_time":
        while query.status["isTriggerActive"] and time.monotonic() < deadline:
            time.sleep(0.05)
    try:
        query.stop()
    except Exception:
        # The process ends now in any case; what was not committed is done again.
        traceback.print_exc()


def _bounded(log: Path) -> None:
    """Keep the log and the one before it. Its writers append, so it can be emptied under them."""
    with contextlib.suppress(FileNotFoundError):
        if log.stat().st_size > MAX_LOG:
            shutil.copyfile(log, log.with_name("log.1.txt"))
            os.truncate(log, 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
