"""Tell those who watch what happened to a deployment."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import F
from django.dispatch import Signal

from builder.deployments.models import Deployment
from builder.monitor.models import Sequence
from builder.send import send

log = logging.getLogger(__name__)
Json = dict[str, Any]

LIST = "deployments"
# What a row of the list shows.
_LISTED = {"state", "metrics", "alert"}
# Sent once events are committed, with `deployment` (its id) and `types` of the events.
told = Signal()


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
    deployment.seq = numbers[-1]
    for seq, event in zip(numbers, events, strict=True):
        event = {"at": now, **event}
        messages.append((deployment_group(deployment.pk), _message(seq, event)))
    listed = [event for event in events if event["type"] in _LISTED]
    if listed:
        for seq, event in zip(_numbers_of_list(len(listed)), listed, strict=True):
            event = {"at": now, **event, "deployment": str(deployment.pk)}
            messages.append((LIST, _message(seq, event)))
    transaction.on_commit(lambda: _send(deployment.pk, events, messages))


def list_seq() -> int:
    """The number of the newest event on the list of deployments."""
    found = Sequence.objects.filter(name=LIST).values_list("value", flat=True).first()
    return found or 0


def _send(id_: Any, events: list[Json], messages: list[tuple[str, Json]]) -> None:
    send(messages)
    types = {event["type"] for event in events}
    for _, error in told.send_robust(Deployment, deployment=id_, types=types):
        if isinstance(error, Exception):
            log.error("Who heard of %s could not act on it: %r", id_, error)


def _numbers(row: Any, field: str, count: int) -> range:
    row.update(**{field: F(field) + count})
    last = row.values_list(field, flat=True).get()
    return range(last - count + 1, last + 1)


def _numbers_of_list(count: int) -> range:
    row = Sequence.objects.filter(name=LIST)
    try:
        return _numbers(row, "value", count)
    except Sequence.DoesNotExist:
        Sequence.objects.get_or_create(name=LIST)
        return _numbers(row, "value", count)


def _message(seq: int, event: Json) -> Json:
    # Written once, however many are told.
    text = json.dumps({"type": "event", "seq": seq, "event": event})
    return {"type": "event", "seq": seq, "text": text, "deployment": event.get("deployment")}
