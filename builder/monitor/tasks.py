"""Follow what runs, forget what is old."""

import logging

from celery import shared_task

from builder.deployments.process import is_alive
from builder.deployments.tasks import reconcile
from builder.monitor.follow import follow_run, live_runs
from builder.monitor.retention import clean

log = logging.getLogger(__name__)


@shared_task
def follow_all() -> None:
    """Take in what every live run said since the last tick; have the dead ones looked after."""
    for run in live_runs():
        follow_run(run)
        if run.pid is not None and not is_alive(run):
            reconcile.apply_async((str(run.deployment_id),), expires=30)


@shared_task
def prune() -> None:
    """Forget what is past its time, as the retention says."""
    for removal in clean():
        log.info("Removed: %s", removal.what)
