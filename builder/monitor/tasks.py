"""Follow what runs, bring together and forget what is old."""

import fcntl
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from celery import Task, shared_task
from django.conf import settings
from kombu.exceptions import OperationalError

from builder.deployments.models import Deployment, Run
from builder.deployments.process import is_alive, said
from builder.deployments.tasks import reconcile
from builder.monitor.blocks import roll_up as make_blocks
from builder.monitor.follow import follow_run, live_runs
from builder.monitor.retention import clean
from builder.monitor.state import answer, too_long
from builder.send import line_kept

log = logging.getLogger(__name__)

# Whoever stops a worker waits for the end of its turn.
TURN_SECONDS = 3.0
# How soon a run that begins is followed, and one that ended is seen to.
TICK_SECONDS = 1.0
# Who waits for a number waits for the next look.
LOOK_SECONDS = 0.04


@shared_task
def follow_all() -> None:
    """Take in what live runs say as they say it, for a turn, and pass it on while any lives.

    Beat only has somebody begin: were each turn to begin with a tick of beat's, what is said just
    before one would wait for it.
    """
    until = time.monotonic() + TURN_SECONDS
    with _alone() as alone:
        if not alone:
            return
        with line_kept():
            while runs := live_runs():
                _see_to_the_dead(runs)
                _follow(runs, min(until, time.monotonic() + TICK_SECONDS))
                if time.monotonic() >= until:
                    break
    if runs:
        _pass_on()


def _see_to_the_dead(runs: list[Run]) -> None:
    for run in runs:
        if run.pid is not None and not is_alive(run):
            reconcile.apply_async((str(run.deployment_id),), expires=30)


def _follow(runs: list[Run], until: float) -> None:
    """Take in what these runs say, until a moment of the machine's monotonic clock."""
    seen: dict[Run, object] = {}
    while True:
        for run in runs:
            now = said(run)
            if run not in seen or seen[run] != now:
                follow_run(run)
                seen[run] = now
        left = until - time.monotonic()
        if left <= 0:
            return
        time.sleep(min(LOOK_SECONDS, left))


def _pass_on() -> None:
    try:
        follow_all.apply_async(retry=False, expires=TURN_SECONDS)
    except OperationalError as error:
        log.warning("The next turn of following waits for beat, because Redis is away: %s", error)


@contextmanager
def _alone() -> Iterator[bool]:
    """Answer whether nobody else follows on this machine, and see that nobody does meanwhile.

    Two would only wait for each other's writes.
    """
    folder: Path = settings.HEADRACE_DATA
    with (folder / "follow.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            # It goes with the file.
            yield True


@shared_task
def roll_up() -> None:
    """Bring points of metrics that are some minutes old together."""
    make_blocks()


@shared_task
def prune() -> None:
    """Forget what is past its time, as the retention says."""
    for removal in clean():
        log.info("Removed: %s", removal.what)


@shared_task(bind=True, ignore_result=False)
def ask_state(
    self: Task, deployment_id: str, question: dict[str, Any], seconds: float
) -> dict[str, Any]:
    """The rows of a table; by the rehearsal worker, which has a Spark.

    What does not even end when it is asked to ends with this process, which is started again.
    """

    def give_up() -> None:
        told = {"refused": [504, too_long(seconds)]}
        self.backend.store_result(self.request.id, told, "SUCCESS")
        os._exit(1)

    alarm = threading.Timer(2 * seconds, give_up)
    alarm.daemon = True
    alarm.start()
    try:
        return answer(Deployment.objects.get(pk=deployment_id), question, seconds)
    finally:
        alarm.cancel()
