"""From what runs to what should run, with real processes."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from builder.access.models import Activity
from builder.connections.models import Connection
from builder.deployments import actions, process
from builder.deployments import reconcile as reconciler
from builder.deployments.models import Deployment, Run
from builder.deployments.reconcile import reconcile
from builder.monitor.tasks import follow_all
from builder.pipelines.models import Pipeline, Version
from tests.builder.small_job import PRELUDE, launch_small

GRAPH: dict[str, Any] = {"version": 1, "steps": [], "edges": []}


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The pids of the small jobs that were started; those left are ended."""
    started: list[int] = []

    def launch(run_dir: Path) -> Any:
        found = launch_small(run_dir)
        started.append(found.pid)
        return found

    monkeypatch.setattr(process.launcher, "launch", launch)
    yield started
    for run in Run.objects.exclude(pid=None):
        process.kill(run)


@pytest.fixture
def want(admin: User, processes: list[int]) -> Callable[..., Deployment]:
    """Want a deployment whose job is a few lines of Python."""

    def wanted(script: str, **fields: Any) -> Deployment:
        pipeline = Pipeline.objects.create(name="p", slug="p", graph=GRAPH, owner=admin)
        version = Version.objects.create(pipeline=pipeline, number=1, graph=GRAPH, hash="")
        return Deployment.objects.create(
            pipeline=pipeline, version=version, name="p", graph=GRAPH, script=PRELUDE + script,
            **fields,
        )  # fmt: skip

    return wanted


def until(deployment: Deployment, state: str, seconds: float = 10) -> Deployment:
    """Reconcile and follow as the worker does, until the deployment is in this state."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        reconcile(deployment.pk)
        deployment.refresh_from_db()
        if deployment.state == state:
            return deployment
        time.sleep(0.02)
    raise AssertionError(f"{deployment.state} ({deployment.message}), not {state}")


def wait_dead(run: Run) -> None:
    deadline = time.monotonic() + 10
    while process.is_alive(run):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_run_is_launched_once_and_followed(want: Any, processes: list[int]) -> None:
    deployment = want("running(); until_stopped()")
    until(deployment, "running")
    assert deployment.message == "Reading lines."
    for _ in range(5):
        reconcile(deployment.pk)
    run = Run.objects.get()
    assert [run.pid] == processes
    assert (run.epoch, run.state, run.ended_at) == (1, "running", None)
    about = json.loads((run.folder / "run.json").read_text())
    assert about["name"] == "p"
    assert about["checkpoints"] == str(deployment.folder / "checkpoints")
    assert about["epoch"] == 1
    assert about["master"] is None
    assert all(Path(jar).is_file() for jar in about["jars"])
    assert run.folder.stat().st_mode & 0o777 == 0o700
    for name in ("run.json", "job.py"):
        assert (run.folder / name).stat().st_mode & 0o777 == 0o600


def test_stop_is_asked_once_and_seen(want: Any, admin: User) -> None:
    deployment = want("running(); until_stopped()")
    until(deployment, "running")
    stopping = actions.stop(admin, deployment.pk)
    assert (stopping.state, stopping.desired) == ("stopping", "stopped")
    until(deployment, "stopped")
    run = Run.objects.get()
    assert (run.state, run.exit["code"]) == ("stopped", 0)
    assert run.ended_at is not None
    reconcile(deployment.pk)
    assert Run.objects.count() == 1


def test_who_does_not_stop_is_ended(want: Any, admin: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(reconciler, "STOPPING", timedelta(seconds=0.3))
    deployment = want("signal.signal(signal.SIGTERM, signal.SIG_IGN); running(); time.sleep(600)")
    until(deployment, "running")
    actions.stop(admin, deployment.pk)
    until(deployment, "stopped")
    assert "by force" in Run.objects.get().message


def test_who_does_not_start_is_started_again(want: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(reconciler, "STARTING", timedelta(seconds=0.3))
    deployment = want(
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))\n"
        "if folder.name == '1': time.sleep(600)\n"
        "running(); until_stopped()"
    )
    until(deployment, "running")
    first = Run.objects.get(epoch=1)
    assert first.state == "failed"
    assert "did not start" in first.message


def test_a_crash_is_restarted_at_once_then_later_and_later(want: Any) -> None:
    deployment = want("sys.exit(3)")
    until(deployment, "backing_off")
    assert Run.objects.count() == 2, "the first crash is not waited for"
    assert deployment.failures == 2
    waits = []
    for _ in range(8):
        Deployment.objects.update(retry_at=timezone.now())
        reconcile(deployment.pk)
        wait_dead(deployment.live_run())
        reconcile(deployment.pk)
        deployment.refresh_from_db()
        assert deployment.state == "backing_off"
        waits.append((deployment.retry_at - timezone.now()).total_seconds())
        reconcile(deployment.pk)
        assert deployment.live_run() is None, "it waits"
    assert 7 < waits[0] < 13
    assert 230 < waits[-1] <= 360
    assert "without a word" in deployment.message
    assert Activity.objects.filter(verb="crash").exists()


def test_a_crash_that_says_why_is_told(want: Any) -> None:
    deployment = want("exit(1, 'A query ended though nobody asked it to.', 'counts')")
    until(deployment, "backing_off")
    assert deployment.message == "A query ended though nobody asked it to."
    assert deployment.step == "counts"


def test_a_killed_job_goes_on_from_its_checkpoint(want: Any) -> None:
    deployment = want(
        "kept = folder.parent.parent / 'checkpoints' / 'here'\n"
        "say(type='state', state='running', message=str(kept.exists()), step=None)\n"
        "kept.touch(); until_stopped()"
    )
    until(deployment, "running")
    os.kill(Run.objects.get().pid, signal.SIGKILL)
    wait_dead(Run.objects.get())
    until(deployment, "running")
    assert deployment.message == "True"
    assert [(r.epoch, r.state) for r in Run.objects.all()] == [(2, "running"), (1, "failed")]
    assert "killed" in Run.objects.get(epoch=1).message


def test_ten_healthy_minutes_forgive(want: Any) -> None:
    deployment = want("running(); until_stopped()", failures=5)
    until(deployment, "running")
    Run.objects.update(running_at=timezone.now() - timedelta(minutes=9))
    reconcile(deployment.pk)
    assert Deployment.objects.get().failures == 5
    Run.objects.update(running_at=timezone.now() - timedelta(minutes=11))
    reconcile(deployment.pk)
    assert Deployment.objects.get().failures == 0


def test_a_permanent_fault_is_not_tried_again(want: Any, admin: User) -> None:
    deployment = want("exit(65, 'Column x is gone.', 'words')")
    until(deployment, "failed")
    assert (deployment.message, deployment.step) == ("Column x is gone.", "words")
    reconcile(deployment.pk)
    assert Run.objects.count() == 1
    Deployment.objects.update(script=PRELUDE + "running(); until_stopped()")
    actions.start(admin, deployment.pk)
    until(deployment, "running")


def test_the_worlds_fault_is_waited_out(want: Any) -> None:
    deployment = want("exit(75, 'The broker is away.')")
    until(deployment, "backing_off")
    assert deployment.message == "The broker is away."
    wait = (deployment.retry_at - timezone.now()).total_seconds()
    assert 3 < wait < 7
    Deployment.objects.update(
        retry_at=timezone.now(), script=PRELUDE + "running(); until_stopped()"
    )
    until(deployment, "running")


def test_a_topic_the_job_misses_is_named_and_retried_soon(want: Any) -> None:
    deployment = want(
        "say(type='problem', step='lines', field='topics', severity='error',"
        " message='gone', topic='lines')\n"
        "exit(75, 'There is no topic lines.', 'lines')",
    )
    # After the look beforehand the topic is deleted: the job itself finds out.
    until(deployment, "starting")
    Deployment.objects.update(
        topics=[{"connection": "local", "step": "lines", "use": "read", "topic": "lines"}]
    )
    wait_dead(Run.objects.get())
    reconcile(deployment.pk)
    deployment.refresh_from_db()
    assert (deployment.state, deployment.step) == ("backing_off", "lines")
    assert deployment.missing_topics == [{"connection": "local", "topic": "lines"}]
    assert deployment.retry_at <= timezone.now() + timedelta(seconds=3)


def test_a_broker_that_is_away_costs_no_process(want: Any, processes: list[int]) -> None:
    Connection.objects.create(name="local", bootstrap_servers="127.0.0.1:1")
    deployment = want(
        "running()",
        topics=[{"connection": "local", "step": "lines", "use": "read", "topic": "lines"}],
    )
    until(deployment, "backing_off")
    assert "local" in deployment.message
    assert "127.0.0.1:1" in deployment.message
    assert deployment.step == "lines"
    assert processes == []
    assert deployment.retry_at <= timezone.now() + timedelta(seconds=6)


def test_replacing_stops_the_old_run_first(want: Any, admin: User, processes: list[int]) -> None:
    deployment = want("running(); until_stopped()")
    until(deployment, "running")
    first = Run.objects.get()
    actions.restart(admin, deployment.pk)
    reconcile(deployment.pk)
    wait_dead(first)
    until(deployment, "running")
    old, new = Run.objects.order_by("epoch")
    assert (old.state, old.exit["code"]) == ("stopped", 0)
    assert old.ended_at <= new.started_at
    assert len(processes) == 2


def test_the_last_wish_wins(want: Any, admin: User) -> None:
    deployment = want("running(); until_stopped()")
    until(deployment, "running")
    for wish in (actions.stop, actions.start, actions.stop, actions.start):
        wish(admin, deployment.pk)
        reconcile(deployment.pk)
    until(deployment, "running")
    assert Run.objects.filter(ended_at=None).count() == 1
    assert deployment.live_run().generation == deployment.generation


def test_stopped_from_outside_comes_back(want: Any) -> None:
    deployment = want("running(); until_stopped()")
    until(deployment, "running")
    run = Run.objects.get()
    Run.objects.update(running_at=timezone.now() - timedelta(seconds=60))
    os.kill(run.pid, signal.SIGTERM)
    wait_dead(run)
    until(deployment, "running")
    assert deployment.failures == 0
    assert [r.state for r in Run.objects.all()] == ["running", "stopped"]


def test_a_worker_that_dies_while_launching_leaves_one_process(
    want: Any, processes: list[int], monkeypatch: Any
) -> None:
    deployment = want("running(); until_stopped()")
    whole = process._identify

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(process, "_identify", die)
    with pytest.raises(KeyboardInterrupt):
        reconcile(deployment.pk)
    assert Run.objects.get().pid is None
    assert len(processes) == 1
    monkeypatch.setattr(process, "_identify", whole)
    until(deployment, "running")
    assert Run.objects.get().pid == processes[0]
    assert len(processes) == 1


@pytest.mark.parametrize("field", ["boot_id", "start_ticks"])
def test_another_process_with_the_same_pid_is_left_alone(field: str, want: Any) -> None:
    deployment = want("running(); until_stopped()")
    until(deployment, "running")
    run = Run.objects.get()
    other = {"boot_id": "0" * 36, "start_ticks": 1}
    Run.objects.update(**{field: other[field]})
    until(deployment, "running")
    assert process.is_alive(run), "the unrelated process goes on"
    assert Run.objects.filter(ended_at=None).get().epoch == 2
    process.kill(run)


def test_fresh_means_without_checkpoints(want: Any) -> None:
    deployment = want("running(); until_stopped()", fresh=True, samples={"a": []})
    kept = deployment.folder / "checkpoints" / "out" / "offsets"
    kept.mkdir(parents=True)
    (deployment.folder / "checkpoints" / "metadata").touch()
    until(deployment, "running")
    assert not kept.exists()
    assert sorted(p.name for p in (deployment.folder / "checkpoints").iterdir()) == ["lock"]
    assert not deployment.fresh
    assert deployment.samples == {}


def test_fresh_waits_for_who_holds_the_checkpoints(want: Any, processes: list[int]) -> None:
    import fcntl

    deployment = want("running(); until_stopped()", fresh=True)
    folder = deployment.folder / "checkpoints"
    folder.mkdir(parents=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        reconcile(deployment.pk)
        reconcile(deployment.pk)
        deployment.refresh_from_db()
        assert "holds the checkpoints" in deployment.message
        assert processes == []
    until(deployment, "running")


def test_what_cannot_be_started_says_so(want: Any, monkeypatch: Any) -> None:
    def no_jars() -> Any:
        raise FileNotFoundError("No jars in /nowhere. Run `make up`.")

    monkeypatch.setattr(process, "spark_jars", no_jars)
    deployment = want("running()")
    until(deployment, "backing_off")
    assert "No jars" in deployment.message


@pytest.mark.django_db(transaction=True)
def test_many_nudges_launch_one_process(want: Any, processes: list[int]) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from django.db import connection

    deployment = want("running(); until_stopped()")

    def nudge(_: int) -> None:
        try:
            reconcile(deployment.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(nudge, range(20)))
    until(deployment, "running")
    assert Run.objects.count() == 1
    assert len(processes) == 1


@pytest.mark.django_db(transaction=True)
def test_the_tick_sees_a_death_and_asks_for_help(want: Any, redis_server: str) -> None:
    import redis

    queue = redis.Redis.from_url(redis_server)
    deployment = want("running(); until_stopped()")
    until(deployment, "running")
    queue.delete("control")
    follow_all()
    assert queue.llen("control") == 0
    process.kill(Run.objects.get())
    wait_dead(Run.objects.get())
    follow_all()
    (sent,) = queue.lrange("control", 0, -1)
    assert json.loads(sent)["headers"]["task"] == "builder.deployments.tasks.reconcile"
