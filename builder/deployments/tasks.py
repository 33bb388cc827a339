"""Make what is wanted so. Each task is short, and harmless to repeat."""

import logging
import shutil
from uuid import UUID

from celery import shared_task
from django.conf import settings

from builder.connections.kafka import Unreachable, delete_topics
from builder.connections.models import Connection
from builder.deployments.models import Deployment
from builder.deployments.reconcile import reconcile as reconcile_deployment
from builder.deployments.reconcile import unsettled

log = logging.getLogger(__name__)


@shared_task
def reconcile(deployment_id: str) -> None:
    """Bring one deployment from what runs to what should run."""
    reconcile_deployment(deployment_id)


@shared_task
def reconcile_all() -> None:
    """Have every deployment looked after that runs, or should run and may."""
    for id_ in unsettled():
        reconcile.apply_async((str(id_),), expires=10)


@shared_task
def remove_folder(deployment_id: str) -> None:
    """Remove the files of a deployment that is no more."""
    if not Deployment.objects.filter(pk=UUID(deployment_id)).exists():
        shutil.rmtree(
            settings.HEADRACE_DATA / "deployments" / str(UUID(deployment_id)), ignore_errors=True
        )


@shared_task
def remove_topics(name: str, connections: list[str]) -> None:
    """Remove the internal topics of a deployment that is no more, as far as its Kafka answers."""
    if Deployment.objects.filter(name=name).exists():
        return
    for connection in Connection.objects.filter(name__in=connections):
        try:
            delete_topics(connection, f"headrace.{name}.")
        except Unreachable as error:
            log.warning("The internal topics of %s stay behind: %s", name, error)
