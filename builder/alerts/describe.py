"""Alerts as the API, the websocket and webhooks say them."""

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from builder.alerts.models import Alert, Notification, Silence

Json = dict[str, Any]


def describe(rows: QuerySet[Alert]) -> list[Json]:
    """Alerts with where they are, who has acknowledged them, and who was told."""
    silences = list(Silence.objects.filter(until__gt=timezone.now()))
    rows = rows.select_related("deployment__pipeline", "acknowledged_by")
    rows = rows.defer("deployment__graph", "deployment__script", "deployment__pipeline__graph")
    return [_described(alert, silences) for alert in rows.prefetch_related("notifications")]


def _described(alert: Alert, silences: list[Silence]) -> Json:
    deployment, pipeline = alert.deployment, alert.deployment.pipeline
    until = [s.until for s in silences if s.covers(alert.rule_id, alert.deployment_id)]
    by = alert.acknowledged_by
    return {
        "id": str(alert.pk),
        "rule": alert.rule_id and str(alert.rule_id),
        "name": alert.name,
        "measure": alert.measure,
        "severity": alert.severity,
        "message": alert.message,
        "value": alert.value,
        "threshold": alert.threshold,
        "step": alert.step,
        "deployment": {"id": str(deployment.pk), "environment": deployment.environment},
        "pipeline": {
            "id": str(pipeline.pk),
            "name": pipeline.name,
            "slug": pipeline.slug,
            "folder": pipeline.folder,
        },
        "began_at": alert.began_at.isoformat(),
        "ended_at": alert.ended_at and alert.ended_at.isoformat(),
        "acknowledged_at": alert.acknowledged_at and alert.acknowledged_at.isoformat(),
        "acknowledged_by": by and by.get_username(),
        "silenced_until": max(until).isoformat() if until else None,
        "notifications": [describe_notification(n) for n in alert.notifications.all()],
    }


def describe_notification(notification: Notification) -> Json:
    """How telling somebody outside went."""
    return {
        "id": str(notification.pk),
        "channel": notification.channel,
        "about": notification.about,
        "state": notification.state,
        "attempts": notification.attempts,
        "message": notification.said,
        "created_at": notification.created_at.isoformat(),
    }
