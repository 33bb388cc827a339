"""Tell those who watch what happened to a deployment."""

from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from builder.deployments.models import Deployment
from builder.monitor.models import Sequence
from builder.send import send

Json = dict[str, Any]

LIST = "deployments"
# What a row of the list shows.
_LISTED = {"state", "metrics"}


def deployment_group(deployment_id: Any) -> str:
    """The channel group of those who watch one deployment."""
    return f"deployment.{deployment_id}"


def tell_state(deployment: Deployment) -> None:
    """Tell the state that has just been saved."""
    tell(
        deployment,
        [
            {
                "type": "state",
                "state": deployment.state,
                "message": deployment.message,
                "step": deployment.step,
                "desired": deployment.desired,
                "missing_topics": deployment.missing_topics,
            }
        ],
    )


def tell(deployment: Deployment, events: list[Json]) -> None:
    """Number the events, and send them once this transaction is committed.

    Must be called in the transaction that saves what the events tell, after the deployment's
    row was written or locked: so the numbers are in the order of what they tell.
    """
    if not events:
        return
    now = datetime.now(UTC).isoformat()
    messages: list[tuple[str, Json]] = []
    numbers = _numbers(Deployment.objects.filter(pk=deployment.pk), "seq", len(events))
    for seq, event in zip(numbers, events, strict=True):
        event = {"at": now, **event}
        messages.append((deployment_group(deployment.pk), _message(seq, event)))
    listed = [event for event in events if event["type"] in _LISTED]
    if listed:
        Sequence.objects.get_or_create(name=LIST)
        numbers = _numbers(Sequence.objects.filter(name=LIST), "value", len(listed))
        for seq, event in zip(numbers, listed, strict=True):
            event = {"at": now, **event, "deployment": str(deployment.pk)}
            messages.append((LIST, _message(seq, event)))
    deployment.refresh_from_db(fields=["seq"])
    transaction.on_commit(lambda: send(messages))


def list_seq() -> int:
    """The number of the newest event on the list of deployments."""
    found = Sequence.objects.filter(name=LIST).values_list("value", flat=True).first()
    return found or 0


def _numbers(row: Any, field: str, count: int) -> range:
    row.update(**{field: F(field) + count})
    last = row.values_list(field, flat=True).get()
    return range(last - count + 1, last + 1)


def _message(seq: int, event: Json) -> Json:
    return {"type": "monitor.event", "seq": seq, "event": event}
