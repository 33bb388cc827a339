"""A deployment's metrics over time."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from builder.deployments.models import Deployment
from builder.monitor.models import Metric

MOST = 600


def points(
    deployment: Deployment, start: datetime | None, end: datetime | None, step: str | None
) -> list[dict[str, Any]]:
    """Up to 600 points between two times (the last hour where left out), evenly thinned."""
    end = _aware(end) or timezone.now()
    start = _aware(start) or end - timedelta(hours=1)
    rows = Metric.objects.filter(deployment=deployment, at__gte=start, at__lte=end).order_by("at")
    ids = list(rows.values_list("pk", flat=True))
    stride = -(-len(ids) // MOST) or 1
    # Counting from the newest keeps it among the chosen.
    chosen = rows.filter(pk__in=ids[::-1][::stride])
    return [
        {
            "at": point.at,
            "rate": point.rate,
            "steps": {id_: s for id_, s in point.steps.items() if step in (None, id_)},
        }
        for point in chosen
    ]


def _aware(moment: datetime | None) -> datetime | None:
    if moment is not None and timezone.is_naive(moment):
        return moment.replace(tzinfo=timezone.get_default_timezone())
    return moment
