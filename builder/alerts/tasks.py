"""Look at what deployments do, and send what is to be told. Each task is short, and harmless to
repeat."""

import logging
from datetime import timedelta
from typing import Any

from celery import shared_task
from django.utils import timezone
from kombu.exceptions import OperationalError

from builder.alerts import outbox
from builder.alerts.evaluate import evaluate
from builder.alerts.models import Alert, Notification, Silence

log = logging.getLogger(__name__)

# How long alerts that are over, silences and tests are kept.
KEPT = timedelta(days=90)


@shared_task
def look() -> None:
    """Compare all deployments with the rules, and have sent what is due."""
    evaluate()
    for id_ in outbox.due(timezone.now()):
        outbox.send_soon(id_)


@shared_task
def look_at(deployment_id: str) -> None:
    """Compare one deployment with the rules."""
    evaluate([deployment_id])


@shared_task
def send(notification_id: str) -> None:
    """Try to send one notification. Waits for others' servers, so it has a worker of its own."""
    outbox.send(notification_id)


@shared_task
def forget() -> None:
    """Forget what has been over for long."""
    limit = timezone.now() - KEPT
    Alert.objects.filter(ended_at__lt=limit).delete()
    Notification.objects.filter(alert=None, created_at__lt=limit).delete()
    Silence.objects.filter(until__lt=limit).delete()


def look_at_once(sender: object, deployment: Any, types: set[str], **_: object) -> None:
    """Receive what was told of a deployment: another state can't wait for the next tick."""
    if "state" not in types:
        return
    try:
        look_at.apply_async((str(deployment),), retry=False, expires=10)
    except OperationalError as error:
        log.warning("Its alerts come a little later, because Redis is away: %s", error)
