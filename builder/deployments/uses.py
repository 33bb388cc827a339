"""Which connections deployments use."""

from typing import Any

from django.db.models import Q

from builder.connections.models import Connection
from builder.deployments.models import Deployment, Desired
from builder.environments.models import meant_by
from builder.refused import Refused


def keep_connections_in_use(sender: type[Connection], instance: Connection, **_: Any) -> None:
    """Receive `pre_delete`; raises Refused (409) where what runs, or should, uses it."""
    runs = Q(desired=Desired.RUNNING) | Q(runs__ended_at=None, runs__isnull=False)
    live = Deployment.objects.filter(runs).distinct().select_related("pipeline")
    if names := [str(d) for d in live if instance.name in _used(d)]:
        raise Refused(409, f"{instance} is used by {', '.join(names)}; stop that first.")


def _used(deployment: Deployment) -> set[str]:
    meant = meant_by(deployment.environment)
    return {meant.get(topic["connection"], "") for topic in deployment.topics}
