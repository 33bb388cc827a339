"""Bring a deployment from what runs to what should run.

Each step is short, takes the deployment's lock, and may be repeated at any time: what to do
is read from the database and the process table, never remembered.
"""

import random
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from builder.access.activity import record
from builder.deployments import process
from builder.deployments.models import Deployment, Desired, Run, State
from builder.deployments.preflight import Hindrance, hindrance
from builder.monitor.follow import counts, follow_run, quiet, restarted
from builder.monitor.tell import tell_state

# In seconds of the monotonic clock: most that a process takes to start, and to stop.
STARTING = 180.0
STOPPING = 60.0
# How long the run that is replaced goes on while the next one makes ready.
STANDING_BY = 60.0
# Without a sign of life from a process; with rows that wait and none that move.
SILENT = 60.0
STALLED = 300.0
NOT_MOVING = f"Rows wait, and none was taken for {STALLED / 60:.0f} minutes."
# A run that stood this long failed by itself, not because of what the one before failed of.
HEALTHY = timedelta(minutes=2)
MISSING_TOPIC = timedelta(seconds=3)
AWAY = timedelta(seconds=5)
LONGEST_WAIT = timedelta(minutes=10)
# A run that ended cleanly though nobody here asked it to (the machine shuts down) is simply
# started again, unless it ends like that again and again.
SETTLED = timedelta(seconds=10)

STOPPED_AS_ASKED, PERMANENT, TRY_AGAIN = 0, 65, 75
# More than any reconciliation takes: stop, end, look, make, start.
MOST_STEPS = 6


def unsettled() -> list[UUID]:
    """The deployments to look after: those that run, or should run and may."""
    at_rest = Q(desired=Desired.STOPPED, state=State.STOPPED) | Q(state=State.FAILED)
    live = Q(runs__isnull=False, runs__ended_at=None)
    found = Deployment.objects.filter(~at_rest | live).distinct()
    return list(found.values_list("id", flat=True))


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
    if deployment.standby_run() is not None:
        return _locked(deployment_id, _succeed)
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
        and (
            deployment.retry_at is None
            # Further away than any wait: the clock was set back.
            or not timezone.now() < deployment.retry_at < timezone.now() + LONGEST_WAIT
        )
    )


def _since(clock: float | None) -> float:
    """Seconds since a moment of the machine's monotonic clock."""
    return 0.0 if clock is None else time.monotonic() - clock


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
    if not _is_wanted(deployment, run):
        return _let_go(deployment, run, now)
    if run.stop_asked_at is not None:
        return _stop(deployment, run, now, run.message)
    if run.running_at is None and _since(run.started_clock) > STARTING:
        seconds = int(STARTING)
        return _stop(deployment, run, now, f"It did not start within {seconds} seconds.")
    if run.running_at and (said := _is_stuck(deployment, run, time.monotonic())):
        _asked(run, now, said)
        process.kill(run)
        record(None, "kill", deployment, f"Run {run.epoch} was ended: {said}")
        return False
    if deployment.failures and run.running_at and now - run.running_at > HEALTHY:
        deployment.failures = 0
        deployment.save()
    return False


def _is_wanted(deployment: Deployment, run: Run) -> bool:
    return deployment.desired == Desired.RUNNING and run.generation == deployment.generation


def _is_stuck(deployment: Deployment, run: Run, now: float) -> str | None:
    """Why a process that lives must be ended, in a sentence. Notes and tells what it sees."""
    sign = process.sign_of_life(run)
    if sign != run.sign or run.sign_at is None:
        run.sign, run.sign_at = sign, now
        run.save(update_fields=("sign", "sign_at"))
    elif now - run.sign_at > SILENT:
        return f"It gave no sign of life for {int(SILENT)} seconds."
    if run.moved_at is None or now - run.moved_at <= STALLED:
        if deployment.message == NOT_MOVING:
            _set(deployment, State.RUNNING, run.message)
        return None
    if all(segment["mode"] == "real_time" for segment in deployment.segments):
        return NOT_MOVING
    # A micro-batch may rightly take long, and to begin it anew would only take longer.
    if deployment.message != NOT_MOVING:
        _set(deployment, State.RUNNING, NOT_MOVING)
        record(None, "stall", deployment, f"Run {run.epoch}: {NOT_MOVING}")
    return None


def _let_go(deployment: Deployment, run: Run, now: datetime) -> bool:
    """Have a run that is not wanted any more stop, as soon as what replaces it is ready."""
    if deployment.desired == Desired.STOPPED:
        _dismiss(deployment, now)
        message = "Stopping, as asked to; finishing what is under way."
        return _stop(deployment, run, now, message)
    if run.stop_asked_at is None and run.running_at and not _has_successor(deployment, run, now):
        return False
    message = "Stopping, as to be replaced; finishing what is under way."
    return _stop(deployment, run, now, message)


def _has_successor(deployment: Deployment, run: Run, now: datetime) -> bool:
    """Whether the run that replaces this one is ready to, or will never be."""
    standby = deployment.standby_run()
    if standby is not None and standby.generation != deployment.generation:
        _dismiss(deployment, now)
        standby = None
    if standby is None:
        standby = _new_run(deployment, now, standby=True)
    standby.deployment = deployment
    if standby.pid is None:
        if not process.adopt(standby):
            try:
                process.start(standby)
            except OSError as error:
                _close(standby, State.FAILED, f"Its process could not be started: {error}", now)
                return True
            message = f"Making ready; run {run.epoch} goes on until then."
            _set(deployment, State.STARTING, message)
        standby.save()
        return False
    if not process.is_alive(standby):
        standby.exit = process.exit_of(standby)
        _close(standby, State.FAILED, str((standby.exit or {}).get("message") or ""), now)
        # The next attempt, after the old run has ended, says what is wrong.
        return True
    return process.is_ready(standby) or _since(standby.started_clock) > STANDING_BY


def _dismiss(deployment: Deployment, now: datetime) -> None:
    """End the run that stands by, which is not wanted any more."""
    standby = deployment.standby_run()
    if standby is None:
        return
    standby.deployment = deployment
    if standby.pid is None:
        process.adopt(standby)
    if standby.pid is not None:
        process.kill(standby)
    _close(standby, State.STOPPED, "Not needed any more.", now)


def _succeed(deployment: Deployment) -> bool:
    """Make the run that stood by the live one: the one before has ended."""
    standby = deployment.standby_run()
    if standby is None or deployment.live_run() is not None:
        return True
    now = timezone.now()
    if not _is_wanted(deployment, standby):
        _dismiss(deployment, now)
        return True
    _forget_figures_if_fresh(deployment)
    standby.standby = False
    standby.started_at = now
    standby.started_clock = time.monotonic()
    standby.counts_before = counts(deployment)
    standby.save()
    _set(deployment, State.STARTING, "Taking over from the run that it replaces.")
    record(None, "run", deployment, f"Run {standby.epoch} takes over")
    return True


def _start(deployment: Deployment, run: Run, now: datetime) -> bool:
    """Start the process of a run that has none."""
    if not _is_wanted(deployment, run):
        _close(run, State.STOPPED, "Not needed any more.", now)
        return True
    try:
        process.start(run)
    except OSError as error:
        return _restart(deployment, run, now, f"Its process could not be started: {error}")
    run.save()
    _set(deployment, State.STARTING, "Starting Spark.")
    return False


def _stop(deployment: Deployment, run: Run, now: datetime, message: str) -> bool:
    if run.stop_asked_at is None:
        process.ask_to_stop(run)
        run.state = State.STOPPING
        _asked(run, now, message)
        _set(deployment, State.STOPPING, message)
    elif _since(run.asked_clock) > STOPPING:
        process.kill(run)
        run.message = f"Ended by force: it did not stop within {int(STOPPING)} seconds."
        run.save()
    return False


def _end(deployment: Deployment, run: Run, now: datetime) -> bool:
    """Note that a run has ended, and what that means for its deployment."""
    run.exit = process.exit_of(run)
    said = run.exit or {}
    code = said.get("code")
    message = str(said.get("message") or "")
    if not _is_wanted(deployment, run):
        _close(run, State.STOPPED, run.message if run.stop_asked_at else message, now)
        quiet(deployment, now)
        return True
    ended_here = run.message if run.stop_asked_at else ""
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
    if code == STOPPED_AS_ASKED and not ended_here and ran > SETTLED:
        _close(run, State.STOPPED, "Stopped from outside.", now)
        quiet(deployment, now)
        _set(deployment, State.PENDING, "It was stopped from outside; starting it again.")
        return True
    return _restart(deployment, run, now, ended_here or message or _crash(run, code))


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
    _forget_figures_if_fresh(deployment)
    run = _new_run(deployment, timezone.now(), standby=False)
    if deployment.failures:
        restarted(deployment, run.started_at)
    deployment.retry_at = None
    deployment.missing_topics = []
    _set(deployment, State.STARTING, "Starting Spark.")
    record(None, "run", deployment, f"Run {run.epoch} starts")
    return True


def _forget_figures_if_fresh(deployment: Deployment) -> None:
    if deployment.fresh:
        deployment.metrics = None
        deployment.samples = {}


def _new_run(deployment: Deployment, now: datetime, *, standby: bool) -> Run:
    last = deployment.runs.aggregate(last=Max("epoch"))["last"] or 0
    return Run.objects.create(
        deployment=deployment,
        epoch=last + 1,
        generation=deployment.generation,
        version=deployment.version,
        standby=standby,
        started_at=now,
        started_clock=time.monotonic(),
        counts_before=counts(deployment),
        tests=deployment.tests,
    )


# --- Saying so


def _asked(run: Run, now: datetime, why: str) -> None:
    """Note that a run was asked, or made, to end, and why."""
    run.stop_asked_at = now
    run.asked_clock = time.monotonic()
    run.message = why
    run.save()


def _close(run: Run, state: State, message: str, now: datetime) -> None:
    run.state = state
    run.message = message[:2000]
    run.ended_at = now
    process.forget_secrets(run)
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
