"""Bring a deployment from what runs to what should run.

Each step is short, takes the deployment's lock, and may be repeated at any time: what to do
is read from the database and the process table, never remembered.
"""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from builder.access.activity import record
from builder.deployments import process
from builder.deployments.models import Deployment, Desired, Run, State
from builder.deployments.preflight import Hindrance, hindrance
from builder.monitor.follow import counts, follow_run, quiet
from builder.monitor.tell import tell_state

STARTING = timedelta(seconds=180)
STOPPING = timedelta(seconds=60)
HEALTHY = timedelta(minutes=10)
MISSING_TOPIC = timedelta(seconds=3)
AWAY = timedelta(seconds=5)
# A run that ended cleanly though nobody here asked it to (the machine shuts down) is simply
# started again, unless it ends like that again and again.
SETTLED = timedelta(seconds=10)

STOPPED_AS_ASKED, PERMANENT, TRY_AGAIN = 0, 65, 75
# More than any reconciliation takes: stop, end, look, make, start.
MOST_STEPS = 6


def reconcile(deployment_id: UUID | str) -> None:
    """Take the steps that can be taken now; whatever takes time is left to the next call."""
    for _ in range(MOST_STEPS):
        if not _take_a_step(deployment_id):
            return


def _take_a_step(deployment_id: UUID | str) -> bool:
    """Take one step, and answer whether there may be another right now."""
    deployment = Deployment.objects.filter(pk=deployment_id).first()
    if deployment is None:
        return False
    run = deployment.live_run()
    if run is not None:
        follow_run(run)
        return _locked(deployment_id, _look_after)
    if not _is_due(deployment):
        return _locked(deployment_id, _settle)
    # The broker is asked before the lock is taken, since it may let us wait.
    found = hindrance(deployment)
    if found is not None:
        return _locked(deployment_id, lambda d: _wait(d, found))
    return _locked(deployment_id, _make_run)


def _locked(deployment_id: UUID | str, step: Callable[[Deployment], bool]) -> bool:
    with transaction.atomic():
        deployment = (
            Deployment.objects.select_for_update(skip_locked=_can_skip())
            .filter(pk=deployment_id)
            .first()
        )
        # Another worker is at it.
        return deployment is not None and step(deployment)


def _can_skip() -> bool:
    return transaction.get_connection().features.has_select_for_update_skip_locked


def _is_due(deployment: Deployment) -> bool:
    return (
        deployment.desired == Desired.RUNNING
        and deployment.state != State.FAILED
        and (deployment.retry_at is None or deployment.retry_at <= timezone.now())
    )


# --- With a live run


def _look_after(deployment: Deployment) -> bool:
    run = deployment.live_run()
    if run is None:
        return True
    run.deployment = deployment
    now = timezone.now()
    if run.pid is None:
        if not process.adopt(run):
            return _start(deployment, run, now)
        run.save()
    if not process.is_alive(run):
        return _end(deployment, run, now)
    is_wanted = deployment.desired == Desired.RUNNING and run.generation == deployment.generation
    if not is_wanted:
        reason = "asked to" if deployment.desired == Desired.STOPPED else "to be replaced"
        return _stop(deployment, run, now, f"Stopping, as {reason}; finishing what is under way.")
    if run.stop_asked_at is not None:
        return _stop(deployment, run, now, run.message)
    if run.running_at is None and now - run.started_at > STARTING:
        seconds = int(STARTING.total_seconds())
        return _stop(deployment, run, now, f"It did not start within {seconds} seconds.")
    if deployment.failures and run.running_at and now - run.running_at > HEALTHY:
        deployment.failures = 0
        deployment.save()
    return False


def _start(deployment: Deployment, run: Run, now: datetime) -> bool:
    """Start the process of a run that has none."""
    if deployment.desired != Desired.RUNNING or run.generation != deployment.generation:
        _close(run, State.STOPPED, "Not needed any more.", now)
        return True
    if deployment.fresh:
        try:
            process.clear_checkpoints(deployment)
        except process.CheckpointsInUse:
            _set(deployment, State.PENDING, "An earlier process still holds the checkpoints.")
            return False
        deployment.fresh = False
    try:
        process.write_folder(run)
        process.start(run)
    except OSError as error:
        return _restart(deployment, run, now, f"Its process could not be started: {error}")
    run.save()
    _set(deployment, State.STARTING, "Starting Spark.")
    return False


def _stop(deployment: Deployment, run: Run, now: datetime, message: str) -> bool:
    if run.stop_asked_at is None:
        process.ask_to_stop(run)
        run.stop_asked_at = now
        run.state = State.STOPPING
        run.message = message
        run.save()
        _set(deployment, State.STOPPING, message)
    elif now - run.stop_asked_at > STOPPING:
        process.kill(run)
        run.message = (
            f"Ended by force: it did not stop within {int(STOPPING.total_seconds())} seconds."
        )
        run.save()
    return False


def _end(deployment: Deployment, run: Run, now: datetime) -> bool:
    """Note that a run has ended, and what that means for its deployment."""
    run.exit = process.exit_of(run)
    said = run.exit or {}
    code = said.get("code")
    message = str(said.get("message") or "")
    is_wanted = deployment.desired == Desired.RUNNING and run.generation == deployment.generation
    if not is_wanted:
        _close(run, State.STOPPED, run.message if run.stop_asked_at else message, now)
        quiet(deployment, now)
        return True
    too_slow = run.message if run.stop_asked_at else ""
    if code == PERMANENT:
        _close(run, State.FAILED, message, now)
        quiet(deployment, now)
        _set(deployment, State.FAILED, message, said.get("step"))
        record(None, "fail", deployment, f"Run {run.epoch} failed: {message}")
        return False
    if code == TRY_AGAIN:
        _close(run, State.BACKING_OFF, message, now)
        quiet(deployment, now)
        deployment.failures += 1
        wait = MISSING_TOPIC if deployment.missing_topics else _back_off(deployment.failures)
        _back(deployment, now + wait, message, said.get("step"))
        return False
    ran = now - run.running_at if run.running_at else timedelta(0)
    if code == STOPPED_AS_ASKED and not too_slow and ran > SETTLED:
        _close(run, State.STOPPED, "Stopped from outside.", now)
        quiet(deployment, now)
        _set(deployment, State.PENDING, "It was stopped from outside; starting it again.")
        return True
    return _restart(deployment, run, now, too_slow or message or _crash(run, code))


def _restart(deployment: Deployment, run: Run, now: datetime, message: str) -> bool:
    """Start again from the checkpoint: at once the first time, then later and later."""
    _close(run, State.FAILED, message, now)
    quiet(deployment, now)
    deployment.failures += 1
    record(None, "crash", deployment, f"Run {run.epoch} ended: {message}")
    if deployment.failures == 1:
        _set(deployment, State.PENDING, f"Starting again from its checkpoint. {message}")
        return True
    _back(
        deployment, now + _back_off(deployment.failures - 1), message, (run.exit or {}).get("step")
    )
    return False


def _crash(run: Run, code: object) -> str:
    if code is None:
        return "Its process ended without a word; it was killed, or the machine was restarted."
    return f"Its process ended with code {code}; the log says more."


def _back_off(failures: int) -> timedelta:
    """5 seconds, doubled with each failure up to 5 minutes, so that many don't come at once."""
    seconds = min(5.0 * 2 ** min(failures - 1, 10), 300.0)
    return timedelta(seconds=seconds * random.uniform(0.8, 1.2))


# --- Without one


def _settle(deployment: Deployment) -> bool:
    if deployment.desired == Desired.STOPPED and deployment.live_run() is None:
        _set(deployment, State.STOPPED, "Stopped.")
    return False


def _wait(deployment: Deployment, found: Hindrance) -> bool:
    if not _is_due(deployment) or deployment.live_run() is not None:
        return False
    deployment.missing_topics = found.missing_topics
    wait = MISSING_TOPIC if found.missing_topics else AWAY
    _back(deployment, timezone.now() + wait, found.message, found.step)
    return False


def _make_run(deployment: Deployment) -> bool:
    """Make the next run. Its process is started in a step of its own: should this worker die
    in between, the run is there to be found."""
    if not _is_due(deployment) or deployment.live_run() is not None:
        return False
    now = timezone.now()
    last = deployment.runs.aggregate(last=Max("epoch"))["last"] or 0
    if deployment.fresh:
        deployment.metrics = None
        deployment.samples = {}
    run = Run.objects.create(
        deployment=deployment,
        epoch=last + 1,
        generation=deployment.generation,
        started_at=now,
        counts_before=counts(deployment),
        tests=deployment.tests,
    )
    deployment.retry_at = None
    deployment.missing_topics = []
    _set(deployment, State.STARTING, "Starting Spark.")
    record(None, "run", deployment, f"Run {run.epoch} starts")
    return True


# --- Saying so


def _close(run: Run, state: State, message: str, now: datetime) -> None:
    run.state = state
    run.message = message[:2000]
    run.ended_at = now
    run.save()


def _back(deployment: Deployment, retry_at: datetime, message: str, step: object = None) -> None:
    deployment.retry_at = retry_at
    _set(deployment, State.BACKING_OFF, message, step)


def _set(deployment: Deployment, state: State, message: str, step: object = None) -> None:
    """Save the state, and tell it where it is another."""
    step = step if isinstance(step, str) else None
    before = Deployment.objects.values("state", "message", "step", "missing_topics").get(
        pk=deployment.pk
    )
    deployment.state = state
    deployment.message = message[:2000]
    deployment.step = step
    deployment.save()
    after = {field: getattr(deployment, field) for field in before}
    if before != after:
        tell_state(deployment)
