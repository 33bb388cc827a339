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


def until_true(deployment: Deployment, holds: Callable[[], bool], seconds: float = 10) -> bool:
    """Reconcile until this holds; answers whether it did."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        reconcile(deployment.pk)
        deployment.refresh_from_db()
        if holds():
            return True
        time.sleep(0.02)
    return False


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
    monkeypatch.setattr(reconciler, "STOPPING", 0.3)
    deployment = want("signal.signal(signal.SIGTERM, signal.SIG_IGN); running(); time.sleep(600)")
    until(deployment, "running")
    actions.stop(admin, deployment.pk)
    until(deployment, "stopped")
    assert "by force" in Run.objects.get().message


def test_who_does_not_start_is_started_again(want: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(reconciler, "STARTING", 0.3)
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


def test_two_healthy_minutes_forgive(want: Any) -> None:
    deployment = want("running(); until_stopped()", failures=5)
    until(deployment, "running")
    Run.objects.update(running_at=timezone.now() - timedelta(seconds=110))
    reconcile(deployment.pk)
    assert Deployment.objects.get().failures == 5
    Run.objects.update(running_at=timezone.now() - timedelta(seconds=130))
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


def test_the_run_that_replaces_makes_ready_before_the_old_one_stops(
    want: Any, admin: User, processes: list[int]
) -> None:
    deployment = want("running(); until_stopped()")
    until(deployment, "running")
    old = Run.objects.get()
    actions.restart(admin, deployment.pk)
    reconcile(deployment.pk)
    new = Run.objects.get(standby=True)
    assert len(processes) == 2
    assert process.is_alive(old)
    until(deployment, "running")
    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.state, old.exit["code"]) == ("stopped", 0)
    assert (deployment.live_run(), deployment.standby_run()) == (new, None)
    assert new.started_at >= old.ended_at
    assert process.is_alive(new)
    assert len(processes) == 2
    assert [run.version for run in (old, new)] == [deployment.version] * 2


def test_the_run_that_stands_by_goes_with_the_wish(
    want: Any, admin: User, processes: list[int]
) -> None:
    deployment = want("running(); until_stopped()")
    until(deployment, "running")
    old = Run.objects.get()
    actions.restart(admin, deployment.pk)
    reconcile(deployment.pk)
    first = Run.objects.get(standby=True)
    actions.restart(admin, deployment.pk)
    reconcile(deployment.pk)
    wait_dead(first)
    assert process.is_alive(old)
    second = Run.objects.get(standby=True, ended_at=None)
    assert (first.generation, second.generation) == (2, 3)
    actions.stop(admin, deployment.pk)
    until(deployment, "stopped")
    assert not any(map(process.is_alive, Run.objects.all()))
    assert Run.objects.filter(ended_at=None).count() == 0
    assert len(processes) == 3


def test_who_stands_by_takes_over_from_one_that_is_killed(
    want: Any, admin: User, processes: list[int]
) -> None:
    deployment = want("running(); until_stopped()")
    until(deployment, "running")
    old = Run.objects.get()
    actions.restart(admin, deployment.pk)
    reconcile(deployment.pk)
    new = Run.objects.get(standby=True)
    process.kill(old)
    wait_dead(old)
    until(deployment, "running")
    assert deployment.live_run() == new
    assert len(processes) == 2


def test_who_can_not_stand_by_lets_the_old_one_stop(want: Any, admin: User) -> None:
    deployment = want("running(); until_stopped()")
    early = "if about['epoch'] > 1: exit(65, 'No.')\nheld = hold()\nrunning()"
    Deployment.objects.update(script=deployment.script.replace("held = hold()\nrunning()", early))
    until(deployment, "running")
    actions.restart(admin, deployment.pk)
    until(deployment, "failed")
    assert deployment.message == "No."
    assert [run.state for run in Run.objects.all()] == ["failed", "failed", "stopped"]


def test_a_process_that_gives_no_sign_of_life_is_replaced(want: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(reconciler, "SILENT", 0.3)
    deployment = want("running()\nif folder.name == '1': time.sleep(600)\n"
                      "while True: say(type='log', message=''); time.sleep(0.05)")  # fmt: skip
    until(deployment, "running")
    first = Run.objects.get()
    os.kill(first.pid, signal.SIGSTOP)
    deadline = time.monotonic() + 10
    while deployment.runs.count() == 1 and time.monotonic() < deadline:
        reconcile(deployment.pk)
        time.sleep(0.05)
    until(deployment, "running")
    first.refresh_from_db()
    assert "no sign of life" in first.message
    assert not process.is_alive(first)
    time.sleep(0.5)
    reconcile(deployment.pk)
    assert deployment.live_run().epoch == 2


@pytest.mark.parametrize(("mode", "is_replaced"), [("real_time", True), ("micro_batch", False)])
def test_rows_that_wait_and_none_that_move_are_told(
    want: Any, monkeypatch: Any, mode: str, is_replaced: bool
) -> None:
    monkeypatch.setattr(reconciler, "STALLED", 0.3)
    still = {"lag": {"t-0": 5}, "position": 7}
    deployment = want(
        "running()\n"
        f"still = {still}\n"
        "waiting = folder.name == '1'\n"
        "for n in range(10):\n"
        "    say(type='metrics', steps={}, segments={'s': {**still, 'position': n}})\n"
        "    time.sleep(0.1)\n"
        "while waiting and not (folder / 'go').exists():\n"
        "    say(type='metrics', steps={}, segments={'s': still}); time.sleep(0.05)\n"
        "while True: say(type='metrics', steps={}, segments={'s': {}}); time.sleep(0.05)",
        segments=[{"id": "s", "mode": mode, "reason": "", "steps": []}],
    )
    until(deployment, "running")
    first = Run.objects.get()
    told = until_true(deployment, lambda: deployment.message == reconciler.NOT_MOVING
                      or deployment.runs.count() > 1)  # fmt: skip
    assert told
    if is_replaced:
        until(deployment, "running")
        first.refresh_from_db()
        assert first.message == reconciler.NOT_MOVING
        assert deployment.live_run().epoch == 2
    else:
        assert process.is_alive(first)
        (first.folder / "go").touch()
        assert until_true(deployment, lambda: deployment.message == "Reading lines.")
        assert Activity.objects.filter(verb="stall").count() == 1


@pytest.mark.parametrize("hours", [1, -1])
def test_a_clock_that_is_set_ends_no_run_and_holds_none_up(
    hours: int, want: Any, admin: User, processes: list[int], monkeypatch: Any
) -> None:
    deployment = want(
        "if folder.name == '2': exit(75, 'Away.')\n"
        "while not (folder / 'go').exists(): time.sleep(0.02)\n"
        "running(); until_stopped()"
    )
    reconcile(deployment.pk)
    now = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(hours=hours))
    for _ in range(3):
        reconcile(deployment.pk)
    first = Run.objects.get()
    assert (process.is_alive(first), first.stop_asked_at) == (True, None)
    (first.folder / "go").touch()
    until(deployment, "running")
    os.kill(first.pid, signal.SIGKILL)
    wait_dead(first)
    until(deployment, "backing_off")
    # Set back again: what waits until an hour from now does not.
    monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(hours=hours - 1))
    reconcile(deployment.pk)
    third = Run.objects.get(epoch=3)
    (third.folder / "go").touch()
    until(deployment, "running")


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
    # For a moment after it was started a process has no command line by which to know it.
    while not Path(f"/proc/{processes[0]}/cmdline").read_bytes():
        time.sleep(0.001)
    monkeypatch.setattr(process, "_identify", whole)
    until(deployment, "running")
    assert Run.objects.get().pid == processes[0]
    assert len(processes) == 1


@pytest.mark.parametrize("field", ["boot_id", "start_ticks"])
def test_another_process_with_the_same_pid_is_left_alone(field: str, want: Any) -> None:
    # Another's process holds no checkpoints.
    deployment = want("fcntl.flock(held, fcntl.LOCK_UN); running(); until_stopped()")
    until(deployment, "running")
    run = Run.objects.get()
    other = {"boot_id": "0" * 36, "start_ticks": 1}
    Run.objects.update(**{field: other[field]})
    until(deployment, "running")
    assert process.is_alive(run), "the unrelated process goes on"
    assert Run.objects.filter(ended_at=None).get().epoch == 2
    process.kill(run)


def test_fresh_is_over_when_a_run_has_begun(want: Any) -> None:
    deployment = want(
        "if folder.name == '1': exit(75, 'Away.')\nrunning(); until_stopped()",
        fresh=True,
        samples={"a": []},
    )
    until(deployment, "backing_off")
    first = Run.objects.get()
    assert json.loads((first.folder / "run.json").read_text())["fresh"] is True
    assert deployment.samples == {}
    assert deployment.fresh, "nobody knows whether it has forgotten anything"
    Deployment.objects.update(retry_at=None)
    until(deployment, "running")
    assert json.loads((deployment.live_run().folder / "run.json").read_text())["fresh"] is True
    assert not deployment.fresh
    os.kill(deployment.live_run().pid, signal.SIGKILL)
    wait_dead(deployment.live_run())
    until(deployment, "running")
    assert json.loads((deployment.live_run().folder / "run.json").read_text())["fresh"] is False


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

    def sent() -> set[str]:
        """What somebody shall do, by the end of a turn."""
        queue.delete("control")
        follow_all()
        return {json.loads(one)["headers"]["task"] for one in queue.lrange("control", 0, -1)}

    assert sent() == {"builder.monitor.tasks.follow_all"}
    process.kill(Run.objects.get())
    wait_dead(Run.objects.get())
    assert sent() == {
        "builder.monitor.tasks.follow_all", "builder.deployments.tasks.reconcile",
    }  # fmt: skip
