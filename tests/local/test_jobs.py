"""Commands run beside each other, as the container with the jobs does."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from builder.local.jobs import commands
from runner.launch import identify, is_alive


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["a", "-b"], [["a", "-b"]]),
        (["a", "--", "b", "--c"], [["a"], ["b", "--c"]]),
    ],
)
def test_which_commands(words: list[str], found: list[list[str]]) -> None:
    assert list(commands(words)) == found


@pytest.mark.parametrize(("how", "code"), [("told to end", 128 + 15), ("one ends", 3)])
def test_they_end_together(tmp_path: Path, how: str, code: int) -> None:
    first = f"echo $$ > {tmp_path}/first; while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; exit 3"
    second = f"echo $$ > {tmp_path}/second; exec sleep 60"
    command = [sys.executable, "-m", "builder.local.jobs", "sh", "-c", first, "--",
               "sh", "-c", second]  # fmt: skip
    both = subprocess.Popen(command, env={**os.environ, "HEADRACE_DATA": str(tmp_path)})
    while not all((tmp_path / name).exists() for name in ("first", "second")):
        time.sleep(0.05)
    sleeps = identify(int((tmp_path / "second").read_text()))
    assert sleeps is not None
    if how == "one ends":
        (tmp_path / "go").touch()
    else:
        both.send_signal(signal.SIGTERM)
    assert both.wait(20) == code
    assert not is_alive(sleeps)
