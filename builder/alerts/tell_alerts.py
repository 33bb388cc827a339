"""Tell those who watch how alerts stand."""

from collections.abc import Iterable
from uuid import UUID

from builder.alerts.describe import describe
from builder.alerts.models import Alert
from builder.deployments.models import Deployment
from builder.monitor.tell import tell


def tell_alerts(deployment: Deployment, ids: Iterable[UUID]) -> None:
    """Tell how these alerts of a deployment stand now.

    Must be called in the transaction that changes them, with the deployment's row locked.
    """
    alerts = describe(Alert.objects.filter(pk__in=list(ids)))
    tell(deployment, [{"type": "alert", "alert": alert} for alert in alerts])


def locked_deployment(id_: UUID) -> Deployment | None:
    """The deployment, under the lock that everybody takes who tells of it."""
    return Deployment.objects.select_for_update().filter(pk=id_).first()
