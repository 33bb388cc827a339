"""Start, await and stop one process on this machine."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

LARGEST_LOG = 10_000_000


class DidNotStart(Exception):
    """A process ended, or stayed silent, before it was ready; the text ends with its log."""


@dataclass
class Server:
    """A server this process started: `url` reaches it, `stop` (or leaving `with`) ends it."""

    name: str
    url: str
    command: Sequence[str | Path]
    log: Path
    process: "subprocess.Popen[bytes]"

    def stop(self, patience: float = 10) -> None:
        """End the server; after `patience` seconds without asking."""
        stop(self.process, patience)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def start(
    command: Sequence[str | Path],
    log: Path,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> "subprocess.Popen[bytes]":
    """Start `command` in a process group of its own, with its output in `log`.

    Its own group keeps a terminal's Ctrl+C from it, so that whoever started it decides
    the order in which things end. It is told to end when the *thread* that called this
    ends, however that happens: call this from the main thread.
    """
    rotate(log)
    # Even `kill -9` of the parent must not leave a broker behind.
    leash = [setpriv, "--pdeathsig", "TERM", "--"] if (setpriv := shutil.which("setpriv")) else []
    with log.open("ab") as out:
        return subprocess.Popen(
            [*leash, *command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=cwd,
            process_group=0,
        )


def wait_until(
    ready: Callable[[], bool],
    process: "subprocess.Popen[bytes]",
    log: Path,
    *,
    name: str,
    seconds: float = 60,
) -> None:
    """Return once `ready` says so; raises DidNotStart when the process ends or time is up."""
    end = time.monotonic() + seconds
    while not ready():
        if process.poll() is not None:
            raise DidNotStart(f"{name} ended with code {process.returncode}.\n{tail(log)}")
        if time.monotonic() > end:
            stop(process, 1)
            raise DidNotStart(f"{name} was not ready after {seconds:.0f} s.\n{tail(log)}")
        time.sleep(0.05)


def stop(process: "subprocess.Popen[bytes]", patience: float = 10) -> None:
    """End a process and its group: asked first, after `patience` seconds killed."""
    signal_group(process, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(patience)
    signal_group(process, signal.SIGKILL)
    process.wait()


def signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """Send a signal to the process group that `start` made; an ended one is no error."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def rotate(log: Path) -> None:
    """Make room for a log: its folder exists, and what grew too large moves to `<name>.1`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > LARGEST_LOG:
        log.replace(log.with_name(log.name + ".1"))


def tail(log: Path, lines: int = 15) -> str:
    """Return the end of a log, for people who must know why something failed."""
    if not log.exists():
        return f"(There is no log at {log}.)"
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 20_000))
        last = file.read().decode(errors="replace").splitlines()[-lines:]
    return "\n".join([*(f"    {line}" for line in last), f"The whole log is {log}."])
