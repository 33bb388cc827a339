"""Follow what runs, forget what is old."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from builder.deployments.models import DeployRequest
from builder.deployments.process import is_alive
from builder.deployments.tasks import reconcile
from builder.monitor.follow import follow_run, live_runs
from builder.monitor.models import Metric

KEPT = timedelta(hours=24)


@shared_task
def follow_all() -> None:
    """Take in what every live run said since the last tick; have the dead ones looked after."""
    for run in live_runs():
        follow_run(run)
        if run.pid is not None and not is_alive(run):
            reconcile.apply_async((str(run.deployment_id),), expires=30)


@shared_task
def prune() -> None:
    """Forget points and idempotency keys older than a day."""
    limit = timezone.now() - KEPT
    Metric.objects.filter(at__lt=limit).delete()
    DeployRequest.objects.filter(created_at__lt=limit).delete()
