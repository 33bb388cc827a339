"""Tell a catalogue of runs. What it was told stands in the database, so nothing that is lost on
the way or repeated does harm, and no run waits for it."""

import json
import logging
from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.db.models import F, Q
from django.utils import timezone
from kombu.exceptions import OperationalError

from builder.deployments.models import Run
from builder.lineage.models import ToldRun
from builder.lineage.run_events import run_events
from builder.post_json import NotTaken, post_json

log = logging.getLogger(__name__)

# Of what ended before there was a catalogue, or while it was away for longer, it is not told.
NEWER_THAN = timedelta(days=1)
FIRST_WAIT, LONGEST_WAIT = 5.0, 300.0
# Longer than it takes to tell all events of a run.
LEASE = timedelta(seconds=60)


@shared_task
def look() -> None:
    """Have told what is new of runs, and what could not be told before."""
    if not settings.ENVIRONMENT.openlineage_url:
        return
    for id_ in untold():
        try:
            tell.apply_async((str(id_),), retry=False, expires=30)
        except OperationalError as error:
            log.warning("The catalogue is told later, because Redis is away: %s", error)
            return


@shared_task
def tell(run_id: str) -> None:
    """Tell the catalogue what it does not know yet of a run, in order."""
    run = Run.objects.select_related("deployment", "version").filter(pk=run_id).first()
    now = timezone.now()
    if run is None or not settings.ENVIRONMENT.openlineage_url:
        return
    ToldRun.objects.get_or_create(run=run, defaults={"due_at": now})
    # Whoever changes this row has it; others find that it is not due.
    if not ToldRun.objects.filter(run=run, due_at__lte=now).update(
        due_at=now + LEASE, attempts=F("attempts") + 1
    ):
        return
    told = ToldRun.objects.get(run=run)
    try:
        _tell_the_rest(run, told)
    except NotTaken as error:
        wait = min(FIRST_WAIT * 2 ** min(told.attempts - 1, 10), LONGEST_WAIT)
        times = "once" if told.attempts == 1 else f"{told.attempts} times"
        told.said = f"failed {times}: {error}"[:300]
        told.due_at = timezone.now() + timedelta(seconds=wait)
        log.warning("The catalogue does not know of %s yet: %s", run, error)
    else:
        told.said, told.attempts, told.due_at = "", 0, timezone.now()
        told.is_done = run.ended_at is not None
    told.save()


def untold() -> list[object]:
    """The runs of which something is to be told now."""
    now = timezone.now()
    recent = Q(ended_at=None) | Q(ended_at__gt=now - NEWER_THAN)
    # One that stands by has not begun.
    runs = Run.objects.filter(recent, standby=False).exclude(told__is_done=True)
    known = (
        Q(told=None)
        | Q(told__events__lt=1)
        | Q(told__events__lt=2, running_at__isnull=False)
        | Q(ended_at__isnull=False)
    )
    due = Q(told=None) | Q(told__due_at__lte=now)
    return list(runs.filter(known, due).order_by("started_at").values_list("pk", flat=True)[:100])


def _tell_the_rest(run: Run, told: ToldRun) -> None:
    """Send the events that were not taken yet, noting each. Raises NotTaken."""
    key = settings.ENVIRONMENT.openlineage_api_key
    headers = {"User-Agent": "Headrace", **({"Authorization": f"Bearer {key}"} if key else {})}
    for event in run_events(run)[told.events :]:
        body = json.dumps(event).encode()
        post_json(settings.ENVIRONMENT.openlineage_url, body, headers, ours=True)
        told.events += 1
        told.save(update_fields=["events"])
