"""Run Headrace on one machine until Ctrl+C: what `make up` ends with."""

import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from builder.local import process
from builder.local.java import java_home
from builder.local.jobs import stop_jobs
from builder.local.kafka import launch_kafka, wait_for_kafka
from builder.local.process import DidNotStart, wait_until
from builder.local.progress import Failed, timed
from builder.local.redis import start_redis
from builder.queues import WITH_SPARK
from runner.class_archive import ARCHIVE

ROOT = Path(__file__).resolve().parents[2]

# A child that ends is started again after 1, 2, 4, … seconds; one that stood this long
# before it ended counts as healthy, and the waiting begins anew.
LONGEST_WAIT = 30.0
HEALTHY_AFTER = 60.0

# How long workers may take to be there before people are told that they are not.
WORKERS_START = 30.0

# How long those asked to end may take, in seconds. Together they stay below twenty.
WORKERS_PATIENCE = 6.0
JOBS_PATIENCE = 8.0
SERVERS_PATIENCE = 4.0


@dataclass
class Child:
    """One process that must stand for as long as Headrace runs."""

    name: str
    command: Sequence[str | Path]
    log: Path
    process: "subprocess.Popen[bytes]"
    started: float
    wait: float = 1.0
    again_at: float | None = None


class Up:
    """Headrace on one machine: starts what it consists of, keeps it running, ends it."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.servers: list[Child] = []
        self.workers: list[Child] = []
        # What runs once and ends by itself.
        self.once: list[subprocess.Popen[bytes]] = []
        self.host = os.environ.get("HEADRACE_HOST") or "127.0.0.1"
        self.port = int(os.environ.get("HEADRACE_PORT") or 8000)
        self.env = {
            **os.environ,
            "HEADRACE_DATA": str(data),
            "HEADRACE_PORT": str(self.port),
            "JAVA_HOME": str(java_home()),
            # Else Spark's Python workers would be whichever Python stands first on the PATH.
            "PYSPARK_PYTHON": sys.executable,
        }

    def start(self) -> None:
        """Start everything; returns when the web process answers. Raises DidNotStart, Failed."""
        # The broker takes longest and nothing but jobs and the feed waits for it.
        kafka = None
        if not self.env.get("HEADRACE_KAFKA"):
            kafka = launch_kafka(self.data)
            self.env["HEADRACE_KAFKA"] = kafka.url
            self.servers.append(self._child(kafka.name, kafka.command, kafka.log, kafka.process))
        if not self.env.get("REDIS_URL"):
            with timed("Redis started"):
                redis = start_redis(self.data)
            self.env["REDIS_URL"] = redis.url
            self.servers.append(self._child(redis.name, redis.command, redis.log, redis.process))
        with timed("Database ready"):
            said = self._prepare()
        if said:
            # Now, not at the end: what is shown only once must not be lost to a later failure.
            print(f"\n{said}", flush=True)
        web = self._keep("web", self._uvicorn())
        for queue in WITH_SPARK:
            words = ["worker", "--queues", queue, "--pool", "solo", "--hostname", f"{queue}@%h"]
            self._keep(f"{queue} worker", ["nice", "-n", "5", *self._celery(), *words])
        if kafka:
            with timed(f"Kafka serves at {kafka.url}"):
                wait_for_kafka(kafka, self.data)
        control = [
            "worker",
            "--queues",
            "control",
            # One follows what runs, the others make so what is wanted.
            "--concurrency",
            "3",
            "--hostname",
            "control@%h",
        ]
        self._keep("control worker", [*self._celery(), *control])
        # Threads that wait for others' servers, so that these hold up nothing.
        outgoing = ["worker", "--queues", "outgoing", "--pool", "threads", "--concurrency", "4"]
        self._keep("outgoing worker", [*self._celery(), *outgoing, "--hostname", "outgoing@%h"])
        # By itself, since a worker does not start again a beat of its own that dies.
        beat = ["beat", "--schedule", str(self.data / "beat"), "--pidfile", ""]
        self._keep("beat", [*self._celery(), *beat])
        # What must be so even without Redis: deployments that should run, run.
        manage = [sys.executable, str(ROOT / "manage.py")]
        self._keep("supervisor", [*manage, "supervise", "--every", "10"])
        # Somebody else's broker is fed only when they say so.
        if (self.env.get("HEADRACE_DEMO") or ("1" if kafka else "0")) != "0":
            feed = [sys.executable, "-m", "builder.local.demo_feed", self.env["HEADRACE_KAFKA"]]
            self._keep("demo feed", feed)
        with timed("Web answers"):
            wait_until(self._web_answers, web.process, web.log, name="Web")
        with timed("Control worker there"):
            missing = self._wait_for_all()
        for sentence in missing:
            print(f"  {sentence}")
        if not ARCHIVE.exists():
            # Beside everything else: sessions that start from then on start faster.
            command = ["nice", "-n", "19", sys.executable, "-m", "runner.write_class_archive"]
            self.once.append(self._run(command, self.data / "logs" / "class-archive.log"))
        print(f"\nHeadrace is at {self.address()}   (Ctrl+C stops it)", flush=True)

    def watch(self) -> NoReturn:
        """Start again whatever ends, and say so, until a signal interrupts."""
        while True:
            self._look_after_all()
            time.sleep(0.25)

    def stop(self) -> None:
        """End everything in the order that loses nothing."""
        # The control worker goes before the jobs: it would start them again.
        _end([child.process for child in self.workers] + self.once, WORKERS_PATIENCE)
        stop_jobs(self.data, JOBS_PATIENCE)
        for child in self.servers:
            _end([child.process], SERVERS_PATIENCE)

    def kill(self) -> None:
        """End everything at once; jobs stay and are found again at the next start."""
        started = [child.process for child in [*self.workers, *self.servers]]
        for one in started + self.once:
            process.signal_group(one, signal.SIGKILL)

    def address(self) -> str:
        """Return where a browser on this machine finds Headrace."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"

    def _uvicorn(self) -> list[str | Path]:
        command = [sys.executable, "-m", "uvicorn", "builder.asgi:application"]
        command += ["--host", self.host, "--port", str(self.port), "--lifespan", "off"]
        # The same few numbers would be compressed for each browser anew.
        command += ["--ws-per-message-deflate", "false"]
        # An open websocket must not hold up the end.
        return [*command, "--no-access-log", "--timeout-graceful-shutdown", "2"]

    def _celery(self) -> list[str | Path]:
        return [sys.executable, "-m", "celery", "--app", "builder.celery"]

    def _prepare(self) -> str:
        command = [sys.executable, str(ROOT / "manage.py"), "prepare"]
        log = self.data / "logs" / "prepare.log"
        process.rotate(log)
        with log.open("ab") as errors:
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=errors, text=True, env=self.env, cwd=ROOT
            )
        if done.returncode:
            raise Failed(f"{process.tail(log)}\nThe database could not be made ready.")
        return done.stdout

    def _keep(self, name: str, command: Sequence[str | Path]) -> Child:
        log = self.data / "logs" / f"{name.replace(' ', '-')}.log"
        child = self._child(name, command, log, self._run(command, log))
        self.workers.append(child)
        return child

    def _run(self, command: Sequence[str | Path], log: Path) -> "subprocess.Popen[bytes]":
        return process.start(command, log, env=self.env, cwd=ROOT)

    def _child(
        self,
        name: str,
        command: Sequence[str | Path],
        log: Path,
        started: "subprocess.Popen[bytes]",
    ) -> Child:
        return Child(name, command, log, started, time.monotonic())

    def _look_after_all(self) -> None:
        for child in [*self.servers, *self.workers]:
            self._look_after(child)

    def _look_after(self, child: Child) -> None:
        now = time.monotonic()
        if child.again_at is not None:
            if now >= child.again_at:
                child.process = self._run(child.command, child.log)
                child.started, child.again_at = now, None
            return
        code = child.process.poll()
        if code is None:
            return
        # What it had started itself must not outlive it and meet its successor.
        process.signal_group(child.process, signal.SIGKILL)
        if now - child.started > HEALTHY_AFTER:
            child.wait = 1.0
        print(
            f"{child.name} ended with code {code} and starts again in {child.wait:.0f} s; "
            f"its log is {child.log}",
            flush=True,
        )
        child.again_at = now + child.wait
        child.wait = min(child.wait * 2, LONGEST_WAIT)

    def _wait_for_all(self) -> list[str]:
        """Return once everything is well, or after a while what is not, in sentences.

        A warm Spark is not waited for: drawing and deploying go without it.
        """
        end = time.monotonic() + WORKERS_START
        while (missing := self._missing()) and time.monotonic() < end:
            self._look_after_all()
            time.sleep(0.25)
        return missing

    def _web_answers(self) -> bool:
        return self._health() is not None

    def _missing(self) -> list[str]:
        checks = (self._health() or {}).get("checks", {})
        return [
            check["message"]
            for name, check in checks.items()
            if not check["ok"] and name not in {f"{queue}_worker" for queue in WITH_SPARK}
        ]

    def _health(self) -> dict[str, Any] | None:
        try:
            with urllib.request.urlopen(f"{self.address()}api/health", timeout=5) as answer:  # noqa: S310
                found: dict[str, Any] = json.load(answer)
                return found
        except urllib.error.HTTPError as error:
            # Something that it depends on is away; web itself stands and says so.
            return dict(json.load(error))
        except OSError:
            return None


def main() -> None:
    # SIGINT, too: a shell's background job begins with it ignored.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    data = Path(os.environ.get("HEADRACE_DATA") or ".headrace").resolve()
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    start = time.monotonic()
    try:
        with alone(data):
            up = Up(data)
            try:
                refuse_a_taken_port(up.host, up.port)
                up.start()
                print(f"Ready after {time.monotonic() - start:.1f} s.", flush=True)
                up.watch()
            except KeyboardInterrupt:
                print("\nStopping.", flush=True)
            finally:
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    signal.signal(number, killing(up))
                up.stop()
    except (DidNotStart, Failed, FileNotFoundError, PermissionError) as failure:
        sys.exit(f"\n{failure}")


@contextlib.contextmanager
def alone(data: Path) -> Iterator[None]:
    """Hold the data folder for one Headrace; raises Failed when another holds it."""
    with (data / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise Failed(
                f"Headrace already runs on {data} (process {lock.read().strip()}). "
                "Stop that one, or set HEADRACE_DATA to another folder."
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def refuse_a_taken_port(host: str, port: int) -> None:
    """Raise Failed when something else listens where the web process should."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise Failed(
                f"Port {port} on {host} can't be used ({error.strerror}). "
                "Set HEADRACE_PORT to another, for example HEADRACE_PORT=8080 make up."
            ) from None


def killing(up: Up) -> Callable[[int, FrameType | None], NoReturn]:
    """Return the handler of an impatient second Ctrl+C."""

    def kill(number: int, frame: FrameType | None) -> NoReturn:
        up.kill()
        os._exit(1)

    return kill


def _end(processes: Sequence["subprocess.Popen[bytes]"], patience: float) -> None:
    end = time.monotonic() + patience
    for one in processes:
        if one.poll() is None:
            one.terminate()
    for one in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            one.wait(max(0.0, end - time.monotonic()))
        process.signal_group(one, signal.SIGKILL)
        one.wait()


if __name__ == "__main__":
    main()
