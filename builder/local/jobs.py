"""The job processes of one data folder, asked to stop.

As a program, `python -m builder.local.jobs <command…> -- <command…>` runs commands beside each
other, and when it is told to end, or one of them has ended, ends first the commands and then the
jobs: what a container with the control worker and the supervisor needs, since the jobs would be
killed with it.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from runner import launch

PATIENCE = 30.0


def live_jobs(data: Path) -> Iterator[launch.JobProcess]:
    """Yield the job processes whose run's folder stands in `data`."""
    deployments = os.fsencode(data.resolve() / "deployments") + b"/"
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            mine = any(word.startswith(deployments) for word in words)
            if b"runner.host" in words and mine and (job := launch.identify(int(entry.name))):
                yield job


def stop_jobs(data: Path, patience: float) -> int:
    """Ask every live job to stop, wait for them, and return how many there were.

    What should run is remembered elsewhere, so the next start brings them back. One that
    takes longer than `patience` seconds is killed: its checkpoint is safe.
    """
    jobs = list(live_jobs(data))
    for job in jobs:
        launch.stop(job)
    end = time.monotonic() + patience
    while any(map(launch.is_alive, jobs)) and time.monotonic() < end:
        time.sleep(0.1)
    for job in jobs:
        launch.kill(job)
    return len(jobs)


def main() -> None:
    children = [subprocess.Popen(command) for command in commands(sys.argv[1:])]

    def hand_on(number: int, frame: FrameType | None) -> None:
        for child in children:
            child.send_signal(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, hand_on)
    while all(child.poll() is None for child in children):
        time.sleep(0.2)
    # Whoever started this one starts all anew.
    code = next(c.returncode for c in children if c.returncode is not None)
    for child in children:
        child.terminate()
    for child in children:
        child.wait()
    stop_jobs(Path(os.environ["HEADRACE_DATA"]), PATIENCE)
    sys.exit(code if code >= 0 else 128 - code)


def commands(words: list[str]) -> Iterator[list[str]]:
    """The commands between the words `--`."""
    begin = 0
    for end, word in enumerate([*words, "--"], 1):
        if word == "--":
            yield [*words, "--"][begin : end - 1]
            begin = end


if __name__ == "__main__":
    main()
