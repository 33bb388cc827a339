"""Start job processes, and know them again: by boot, process id and time of start."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

# What a job may know of the environment; no secret of the web side is among it.
_HANDED_ON = re.compile(
    r"PATH|HOME|USER|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|JAVA_HOME|JDK_JAVA_OPTIONS|LD_LIBRARY_PATH"
    r"|SPARK_LOCAL_DIRS|SPARK_CONF_DIR|HADOOP_CONF_DIR|KRB5_CONFIG|KRB5CCNAME"
)
# In a run's folder until its process has read it: by connection, what nobody else may know.
SECRETS = "secrets.json"
# How the Java process of a job says whose it is, also when its parent is gone.
IDENTITY = "HEADRACE_JOB"


@dataclass(frozen=True)
class JobProcess:
    """One process, for good: a process id alone may be another's tomorrow.

    `start_ticks` is when it started, in clock ticks since the boot that `boot_id` names.
    """

    boot_id: str
    pid: int
    start_ticks: int

    def __str__(self) -> str:
        return f"{self.boot_id}:{self.pid}:{self.start_ticks}"


def launch(run_dir: Path) -> JobProcess:
    """Start the job of a run's folder in a session of its own and return it at once.

    It outlives its parent; what it prints goes to `log.txt` in the folder. Raises
    FileNotFoundError where the folder has no `run.json` or `job.py`.
    """
    run_dir = run_dir.resolve()
    for needed in ("run.json", "job.py"):
        if not (run_dir / needed).is_file():
            raise FileNotFoundError(run_dir / needed)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    log = os.open(run_dir / "log.txt", flags, mode=0o600)
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "runner.host", run_dir],
            cwd=run_dir,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            umask=0o077,
        )
    finally:
        os.close(log)
    started = identify(process.pid)
    # While this process lives it is the parent, and a dead child stays until it is waited for.
    threading.Thread(target=process.wait, name=f"job {process.pid}", daemon=True).start()
    if started is None:
        raise ProcessLookupError(f"The job in {run_dir} ended at once; see its log.txt.")
    return started


def this_process() -> JobProcess:
    """The identity of the process that asks."""
    process = identify(os.getpid())
    assert process is not None
    return process


def identify(pid: int) -> JobProcess | None:
    """The identity of a process that is there now, None where there is none."""
    stat = _stat(pid)
    return JobProcess(_boot_id(), pid, stat.start_ticks) if stat else None


def is_alive(process: JobProcess) -> bool:
    """Whether this very process still runs; one that has ended but was not waited for does not."""
    stat = _stat(process.pid)
    return (
        stat is not None
        and process.boot_id == _boot_id()
        and stat.start_ticks == process.start_ticks
        and stat.state not in ("Z", "X")
    )


def stop(process: JobProcess) -> bool:
    """Ask the job to stop cleanly; returns whether it was there to be asked."""
    with _held(process) as held:
        if held is None:
            return False
        return _send(held, signal.SIGTERM)


def kill(process: JobProcess) -> bool:
    """End the job and its Java process now; returns whether any of them was there.

    Only processes of the job are touched: the one identified, and those of its group that it
    started, also when it has died and left them behind.
    """
    found = False
    # The job first, so that it can't start another.
    with _held(process) as held:
        if held is not None:
            found = _send(held, signal.SIGKILL)
    for pid in _left_in_group(process):
        with suppress(ProcessLookupError):
            member = os.pidfd_open(pid)
            try:
                # Checked again now that the number can't be given to another.
                if _belongs(pid, process):
                    found = _send(member, signal.SIGKILL) or found
            finally:
                os.close(member)
    return found


@dataclass(frozen=True)
class _Stat:
    state: str
    group: int
    start_ticks: int


def _stat(pid: int) -> _Stat | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command's name stands in parentheses and may hold anything.
    fields = text.rpartition(")")[2].split()
    return _Stat(state=fields[0], group=int(fields[2]), start_ticks=int(fields[19]))


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@contextmanager
def _held(process: JobProcess) -> Iterator[int | None]:
    """A descriptor of the process if it is alive: a signal through it can't go to another."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        yield None
        return
    try:
        yield descriptor if is_alive(process) else None
    finally:
        os.close(descriptor)


def _send(descriptor: int, number: signal.Signals) -> bool:
    try:
        signal.pidfd_send_signal(descriptor, number)
    except ProcessLookupError:
        return False
    return True


def _left_in_group(process: JobProcess) -> list[int]:
    if process.boot_id != _boot_id():
        return []
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    return [pid for pid in pids if pid != process.pid and _belongs(pid, process)]


def _belongs(pid: int, process: JobProcess) -> bool:
    stat = _stat(pid)
    if stat is None or stat.group != process.pid:
        return False
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False
    return f"{IDENTITY}={process}".encode() in environment


def _environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if _HANDED_ON.fullmatch(k)}
    return {
        **kept,
        # Else Spark finds another Python.
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(Path(__file__).resolve().parents[1]),
        "PYTHONUNBUFFERED": "1",
    }
