"""Processes are known by more than their number, and only one's own are touched."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from runner import launch
from tests.runner.scenario import wait_until

ROOT = str(Path(__file__).parents[2])
SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.fixture
def sleeper():
    with subprocess.Popen(SLEEP, start_new_session=True) as process:
        yield process
        process.kill()


@pytest.fixture
def waiting_run(tmp_path):
    """A run whose process waits, as the checkpoints are held by another."""
    checkpoints = tmp_path / "checkpoints"
    checkpoints.mkdir()
    run = tmp_path / "run"
    run.mkdir()
    (run / "job.py").write_text("")
    about = {
        "graph": {"version": 1, "steps": [], "edges": []}, "segments": [], "topics": [],
        "conf": {}, "connections": {}, "checkpoints": str(checkpoints), "master": None,
        "jars": [], "name": "waits",
    }  # fmt: skip
    (run / "run.json").write_text(json.dumps(about))
    with (checkpoints / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield run


def says_something(run):
    path = run / "events.jsonl"
    return None if path.exists() and path.read_text() else "no event yet"


def is_gone(process):
    return lambda: "still alive" if launch.is_alive(process) else None


def test_a_process_is_known_again(sleeper):
    process = launch.identify(sleeper.pid)
    assert launch.is_alive(process)
    assert launch.identify(sleeper.pid) == process


def test_a_dead_process_that_nobody_waited_for_is_dead(sleeper):
    process = launch.identify(sleeper.pid)
    os.kill(sleeper.pid, signal.SIGKILL)
    wait_until(is_gone(process), 5)
    assert launch._stat(sleeper.pid).state == "Z"


@pytest.mark.parametrize("other", [{"start_ticks": 1}, {"boot_id": "another-boot"}])
def test_a_number_given_to_another_process_is_left_alone(sleeper, other):
    stranger = replace(launch.identify(sleeper.pid), **other)
    assert not launch.is_alive(stranger)
    assert not launch.stop(stranger)
    assert not launch.kill(stranger)
    time.sleep(0.2)
    assert sleeper.poll() is None


def test_a_number_that_nobody_has_is_no_process():
    ended = subprocess.Popen([sys.executable, "-c", ""], start_new_session=True)
    process = launch.identify(ended.pid)
    ended.wait()
    assert not launch.is_alive(process)
    assert not launch.stop(process)
    assert not launch.kill(process)


def test_what_a_dead_job_left_behind_is_ended_and_nothing_else():
    leave = """
import os, subprocess, sys
from runner.launch import IDENTITY, this_process
me = this_process()
stranger = subprocess.Popen(sys.argv[1:])
os.environ[IDENTITY] = str(me)
own = subprocess.Popen(sys.argv[1:])
print(me.boot_id, me.pid, me.start_ticks, own.pid, stranger.pid)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", leave, *SLEEP],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    boot, *numbers = process.stdout.readline().split()
    pid, ticks, own, stranger = map(int, numbers)
    process.wait()
    job = launch.JobProcess(boot, pid, ticks)
    try:
        assert not launch.is_alive(job)
        left, other = launch.identify(own), launch.identify(stranger)
        assert launch.kill(job)
        wait_until(is_gone(left), 5)
        assert launch.is_alive(other)
    finally:
        os.kill(stranger, signal.SIGKILL)


def test_a_job_gets_no_secret_and_no_terminal(waiting_run, monkeypatch):
    secrets = {
        "DATABASE_URL": "postgres://secret",
        "SECRET_KEY": "secret",
        "HEADRACE_ADMIN_PASSWORD": "secret",
        "REDIS_URL": "redis://secret",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    process = launch.launch(waiting_run)
    try:
        environment = Path(f"/proc/{process.pid}/environ").read_bytes()
        assert b"secret" not in environment
        assert f"PYSPARK_PYTHON={sys.executable}".encode() in environment
        assert os.getsid(process.pid) == process.pid
        assert os.getpgid(process.pid) == process.pid
        assert Path(f"/proc/{process.pid}/fd/0").readlink() == Path("/dev/null")
        wait_until(lambda: says_something(waiting_run), 20)
        for file in ("log.txt", "events.jsonl"):
            assert (waiting_run / file).stat().st_mode & 0o077 == 0
    finally:
        assert launch.kill(process)
    wait_until(is_gone(process), 5)
    # Its parent lives on and has waited for it: nothing is left.
    wait_until(lambda: "a zombie" if launch._stat(process.pid) else None, 5)


def test_a_job_outlives_its_parent(waiting_run):
    launching = (
        "import sys, time; from pathlib import Path; from runner.launch import launch;"
        "p = launch(Path(sys.argv[1]));"
        "print(p.boot_id, p.pid, p.start_ticks, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", launching, waiting_run],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    boot, pid, ticks = parent.stdout.readline().split()
    job = launch.JobProcess(boot, int(pid), int(ticks))
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    wait_until(lambda: says_something(waiting_run), 20)
    assert launch.is_alive(job)
    assert launch.identify(job.pid) == job
    assert launch.kill(job)
    wait_until(is_gone(job), 5)


def test_a_folder_without_a_program_starts_nothing(tmp_path):
    with pytest.raises(FileNotFoundError):
        launch.launch(tmp_path)
