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

from builder.deployments.models import Deployment, Run
from builder.deployments.process import is_alive, said
from builder.deployments.tasks import reconcile
from builder.monitor.blocks import roll_up as make_blocks
from builder.monitor.follow import follow_run, live_runs
from builder.monitor.retention import clean
from builder.monitor.state import answer, too_long

log = logging.getLogger(__name__)

# Beat has it follow once a second; who waits for a number waits for the next look.
TICK_SECONDS = 0.95
LOOK_SECONDS = 0.04


@shared_task
def follow_all() -> None:
    """Take in what live runs say as they say it, until the next tick; see to the dead ones."""
    until = time.monotonic() + TICK_SECONDS
    with _alone(until) as alone:
        if alone:
            _follow(until)


def _follow(until: float) -> None:
    runs = live_runs()
    for run in runs:
        if run.pid is not None and not is_alive(run):
            reconcile.apply_async((str(run.deployment_id),), expires=30)
    seen: dict[Run, object] = {}
    while runs:
        for run in runs:
            now = said(run)
            if run not in seen or seen[run] != now:
                follow_run(run)
                seen[run] = now
        if time.monotonic() + LOOK_SECONDS > until:
            return
        time.sleep(LOOK_SECONDS)


@contextmanager
def _alone(until: float) -> Iterator[bool]:
    """Wait until nobody else follows on this machine: two would only wait for each other's writes.

    Answers whether that was so before the next tick.
    """
    folder: Path = settings.HEADRACE_DATA
    with (folder / "follow.lock").open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() + LOOK_SECONDS > until:
                    yield False
                    return
                time.sleep(LOOK_SECONDS)
            else:
                # It goes with the file.
                yield True
                return


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
