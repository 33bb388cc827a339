"""Say what is being done and how long it took, one line each."""

import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from builder.local.process import tail


class Failed(Exception):
    """Something on this machine is in the way; the text says what to do about it."""


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Say `what`, and when the block has ended, how many seconds it took."""
    print(f"  {what:<46}", end="", flush=True)
    start = time.monotonic()
    try:
        yield
    except BaseException:
        print(f"{'failed':>8}", flush=True)
        raise
    print(f"{time.monotonic() - start:6.1f} s", flush=True)


def run(
    command: Sequence[str | Path],
    log: Path,
    advice: str,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> None:
    """Run `command` with its output in `log`; raises Failed with the log's end and `advice`."""
    with log.open("ab") as out:
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=env,
                cwd=cwd,
            )
        except FileNotFoundError as missing:
            raise Failed(f"There is no {missing.filename}. {advice}") from None
    if done.returncode:
        raise Failed(f"{tail(log)}\n{advice}")
