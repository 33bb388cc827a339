"""Read what a run says, keep it, and tell it."""

import math
import re
import time
from datetime import UTC, datetime
from typing import Any

from django.db import transaction

from builder.deployments.models import Deployment, Desired, Run, State
from builder.environments.models import meant_by
from builder.monitor.models import Metric
from builder.monitor.points import COLUMNS, highest, point_of, total
from builder.monitor.tell import tell
from runner.events import read_events

Json = dict[str, Any]

MAX_ROWS = 50
MAX_LOGS = 50
_UNKEEPABLE = re.compile("[\0\ud800-\udfff]")
COUNTS = ("in", "out", "dropped", "errors")


def follow_run(run: Run) -> None:
    """Take in the complete lines that a run has added to its events since the last time.

    In one short transaction: the run's and deployment's state, newest metrics and rows, one
    point per second, the byte offset read up to. Harmless to repeat, at any time.
    """
    path = run.folder / "events.jsonl"
    while True:
        # Read before the lock is taken: most ticks find nothing, and none may hold it for long.
        begin = run.events_offset
        events, offset = read_events(path, begin)
        if offset == begin:
            return
        with transaction.atomic():
            deployment = Deployment.objects.select_for_update().filter(pk=run.deployment_id).first()
            locked = Run.objects.select_for_update().filter(pk=run.pk, ended_at=None).first()
            # Somebody else may have taken these lines in, or ended the run, in between.
            if deployment is None or locked is None or locked.events_offset != begin:
                return
            locked.events_offset = offset
            locked.heartbeat = datetime.now(UTC)
            locked.deployment = deployment
            told = _take_in(deployment, locked, events)
            locked.save()
            deployment.save()
            tell(deployment, told)
        run.events_offset = locked.events_offset


def quiet(deployment: Deployment, at: datetime) -> None:
    """Let every rate fall to nothing, and lags be unknown: no run is live. Saves and tells it."""
    metrics = deployment.metrics
    if not metrics or not _flows(metrics):
        return
    for step in metrics["steps"].values():
        step["rate"] = 0.0
    for segment in metrics["segments"].values():
        segment["rate"] = 0.0
        for name in ("lag", "lag_seconds"):
            segment[name] = dict.fromkeys(segment.get(name) or {})
        segment["latency_ms"] = None
    _say(deployment, metrics["steps"], metrics["segments"], at)


def restarted(deployment: Deployment, at: datetime) -> None:
    """Count that a run begins because the one before crashed or met an outage. Saves and tells."""
    deployment.restarts += 1
    metrics = deployment.metrics or {"steps": {}, "segments": {}}
    _say(deployment, metrics["steps"], metrics["segments"], at)


def counts(deployment: Deployment) -> Json:
    """What all runs so far have counted, by step."""
    steps = (deployment.metrics or {}).get("steps", {})
    return {id_: {c: step.get(c) for c in COUNTS} for id_, step in steps.items()}


def _take_in(deployment: Deployment, run: Run, events: list[Json]) -> list[Json]:
    """Apply the events to both rows (unsaved); answers those to tell, the stale ones left out."""
    told: list[Json] = []
    events = [_keepable(event) for event in events]
    metrics: Json | None = None
    logs = [event for event in events if event["type"] == "log"]
    # Whoever floods the log is cut short here; log.txt has it all.
    skipped = {id(event) for event in logs[:-MAX_LOGS]}
    samples: dict[str, Json] = {}
    for event in events:
        match event["type"]:
            case "state":
                told += _take_state(deployment, run, event)
            case "metrics":
                metrics = _merged(metrics, event)
                _take_metrics(deployment, run, metrics)
            case "sample":
                event["rows"] = event["rows"][-MAX_ROWS:]
                samples[event["step"]] = event
            case "problem":
                _take_problem(deployment, event)
                told.append(event)
            case "log" if id(event) not in skipped:
                told.append(event)
    for step, event in samples.items():
        deployment.samples = {**deployment.samples, step: event["rows"]}
        told.append(event)
    if metrics is not None:
        told.append({"type": "metrics", **(deployment.metrics or {})})
    return told


def _keepable(value: Any) -> Any:
    """The value without what a database can't keep: NUL, half pairs, numbers that are none."""
    if isinstance(value, str):
        return _UNKEEPABLE.sub("\ufffd", value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {_keepable(key): _keepable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_keepable(item) for item in value]
    return value


def _take_state(deployment: Deployment, run: Run, event: Json) -> list[Json]:
    if event["state"] not in State.values:
        return []
    run.state = event["state"]
    run.message = (event.get("message") or "")[:2000]
    if run.state == State.RUNNING and run.running_at is None:
        run.running_at = datetime.now(UTC)
    is_wanted = (
        deployment.desired == Desired.RUNNING
        and deployment.generation == run.generation
        and run.stop_asked_at is None
    )
    # How a run ends is told when it has ended: only then is it known what comes next.
    if not is_wanted or run.state not in (State.STARTING, State.RUNNING):
        return []
    deployment.state = run.state
    deployment.message = run.message
    deployment.step = event.get("step")
    if run.state == State.RUNNING:
        deployment.missing_topics = []
        # Only now is it certain that what was there before is forgotten.
        deployment.fresh = False
    about = {"desired": deployment.desired, "missing_topics": deployment.missing_topics}
    return [{**event, "message": run.message, **about}]


def _merged(metrics: Json | None, event: Json) -> Json:
    """An event may leave out what has not changed since the one before."""
    if metrics is None:
        return event
    return {
        **event,
        "steps": {**metrics["steps"], **event["steps"]},
        "segments": {**metrics["segments"], **event["segments"]},
    }


def _take_metrics(deployment: Deployment, run: Run, event: Json) -> None:
    """Add what earlier runs had counted, so that counts go on after a restart."""
    _note_movement(run, event["segments"], time.monotonic())
    before = run.counts_before
    known = (deployment.metrics or {}).get("steps", {})
    steps = {}
    for id_ in {**known, **before, **event["steps"]}:
        now = event["steps"].get(id_)
        if now is None:
            steps[id_] = {**known.get(id_, before.get(id_, {})), "rate": 0.0}
        else:
            earlier = before.get(id_, {})
            steps[id_] = {c: _sum(now.get(c), earlier.get(c)) for c in COUNTS}
            steps[id_]["rate"] = now.get("rate") or 0.0
    _measure(deployment, steps, event["segments"], datetime.fromisoformat(event["at"]))


def _say(deployment: Deployment, steps: Json, segments: Json, at: datetime) -> None:
    _measure(deployment, steps, segments, at)
    deployment.save()
    tell(deployment, [{"type": "metrics", **(deployment.metrics or {})}])


def _measure(deployment: Deployment, steps: Json, segments: Json, at: datetime) -> None:
    """Make these the newest metrics of a deployment (unsaved), and keep a point of them."""
    entered = {edge["to"] for edge in deployment.graph["edges"]}
    lags: dict[str, int | None] = {}
    for segment in segments.values():
        for partition, lag in (segment.get("lag") or {}).items():
            # Where several read the same, the one that is furthest behind.
            lags[partition] = None if lag is None else max(lag, lags.get(partition) or 0)
    deployment.metrics = {
        "at": at.isoformat(),
        "rate": sum(step["rate"] for id_, step in steps.items() if id_ not in entered),
        "lag": total(lags),
        "lag_seconds": highest(
            seconds for s in segments.values() for seconds in (s.get("lag_seconds") or {}).values()
        ),
        "latency_ms": highest((s.get("latency_ms") or {}).get("p50") for s in segments.values()),
        "restarts": deployment.restarts,
        "steps": steps,
        "segments": segments,
    }
    point = Metric(
        deployment=deployment, at=at.replace(microsecond=0), **point_of(deployment.metrics)
    )
    Metric.objects.bulk_create(
        [point], update_conflicts=True, unique_fields=("deployment", "at"), update_fields=COLUMNS
    )


def _flows(metrics: Json) -> bool:
    """Whether any rate or lag is told."""
    told = [metrics["rate"], *(step["rate"] for step in metrics["steps"].values())]
    lags = [n for s in metrics["segments"].values() for n in (s.get("lag") or {}).values()]
    return any(told) or any(n is not None for n in lags)


def _note_movement(run: Run, segments: Json, now: float) -> None:
    """Note when the rows of a run last moved on, or that none wait."""
    position = {id_: s.get("position") for id_, s in segments.items()}
    waiting = any(n for s in segments.values() for n in (s.get("lag") or {}).values())
    if not waiting:
        run.moved_at = None
    elif run.moved_at is None or position != run.position or run.moved_at > now:
        run.moved_at = now
    run.position = position


def _sum(now: int | None, earlier: int | None) -> int | None:
    """None where a count can't be told."""
    return None if now is None else now + (earlier or 0)


def _take_problem(deployment: Deployment, event: Json) -> None:
    topic = event.get("topic")
    if not topic:
        return
    connection = next(
        (
            use["connection"]
            for use in deployment.topics
            if use.get("topic") == topic and event["step"] in (None, use["step"])
        ),
        None,
    )
    if connection:
        # By its own name: whoever makes the topic makes it there.
        connection = meant_by(deployment.environment).get(connection, connection)
    missing = {"connection": connection, "topic": topic}
    if connection and missing not in deployment.missing_topics:
        deployment.missing_topics = [*deployment.missing_topics, missing]


def live_runs() -> list[Run]:
    """The runs that may process rows now, as far as we know."""
    live = Run.objects.filter(ended_at=None, standby=False)
    # Asked for each second, and nothing of these.
    large = ("graph", "script", "segments", "metrics", "samples")
    return list(live.select_related("deployment").defer(*(f"deployment__{n}" for n in large)))
