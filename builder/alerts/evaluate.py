"""Compare what deployments do with the rules that watch them.

Looked at without a lock, and written under the deployment's, only where something has changed.
What is decided stands in the database: nothing is told twice after a restart, and of two who
look at once one comes too late.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from builder.alerts.measures import MINUTE, Reading, Sight
from builder.alerts.models import Alert, AlertRule, Notification, Observation, Silence
from builder.alerts.outbox import has_channels, put_in_outbox
from builder.alerts.tell_alerts import locked_deployment, tell_alerts
from builder.deployments.models import Deployment, Desired, Run, State

log = logging.getLogger(__name__)

COUNTED = ("errors", "dropped")
_LOOKED_AT = (
    "pipeline__name", "pipeline__slug", "pipeline__folder", "environment", "desired", "state",
    "message", "step", "failures", "metrics",
)  # fmt: skip
# Not who has acknowledged it: somebody may be at that.
_WRITTEN = (
    "name", "severity", "threshold", "value", "message", "step", "calm_since", "ended_at",
    "notified_at",
)  # fmt: skip


@dataclass
class Verdict:
    """What one look at a deployment has found: how to remember it, and what became of alerts."""

    counts: list[Any]
    rows: int | None
    since: dict[str, float]
    begun: list[Alert] = field(default_factory=list)
    changed: list[Alert] = field(default_factory=list)
    ended: list[Alert] = field(default_factory=list)

    def says_news(self, before: Observation) -> bool:
        """Whether there is anything to write."""
        remembered = (before.counts, before.rows, before.since)
        return bool(
            self.begun
            or self.changed
            or self.ended
            or remembered != (self.counts, self.rows, self.since)
        )


@dataclass
class _Known:
    """All that the look needs, from a few queries however many deployments there are."""

    rules: list[AlertRule]
    deployments: list[Deployment]
    observations: dict[UUID, Observation]
    alerts: dict[UUID, list[Alert]]
    silences: list[Silence]
    ends: dict[UUID, list[datetime]]


def evaluate(ids: Iterable[UUID | str] | None = None, now: datetime | None = None) -> None:
    """Look at these deployments, all where left out; begin, go on with and end alerts.

    Harmless to repeat, at any time and by several at once.
    """
    now = now or timezone.now()
    known = _gather(ids, now)
    for deployment in known.deployments:
        try:
            _look_at(deployment, known, now)
        except Exception:
            # One that can't be judged must not keep the others from being.
            log.exception("The rules could not be compared with %s", deployment.pk)


def _look_at(deployment: Deployment, known: _Known, now: datetime) -> None:
    before = known.observations.get(deployment.pk) or Observation(deployment_id=deployment.pk)
    rules = [rule for rule in known.rules if rule.is_on_deployment(deployment)]
    alerts = known.alerts.get(deployment.pk, [])
    ends = known.ends.get(deployment.pk, [])
    verdict = judge(deployment, rules, alerts, before, ends, now)
    untold = [a for a in alerts if a not in verdict.ended and _is_to_tell(a, known.silences)]
    if verdict.says_news(before) or untold:
        _write(deployment.pk, before.turn, verdict, untold, known.silences, now)


def _gather(ids: Iterable[UUID | str] | None, now: datetime) -> _Known:
    rows = Deployment.objects.select_related("pipeline").only(*_LOOKED_AT).order_by()
    if ids is not None:
        rows = rows.filter(pk__in=list(ids))
    deployments = list(rows)
    these = {"deployment__in": deployments} if ids is not None else {}
    rules = list(AlertRule.objects.filter(is_on=True))
    alerts: dict[UUID, list[Alert]] = defaultdict(list)
    for alert in Alert.objects.filter(ended_at=None, **these).select_related("rule"):
        alerts[alert.deployment_id].append(alert)
    longest = max((rule.seconds for rule in rules if rule.measure == "restarts"), default=0)
    ends: dict[UUID, list[datetime]] = defaultdict(list)
    ended_by_itself = Run.objects.filter(
        ended_at__gte=now - timedelta(seconds=longest),
        state__in=(State.FAILED, State.BACKING_OFF),
        **these,
    )
    for id_, at in ended_by_itself.values_list("deployment", "ended_at"):
        if at is not None:
            ends[id_].append(at)
    return _Known(
        rules,
        deployments,
        {o.deployment_id: o for o in Observation.objects.filter(**these)},
        alerts,
        list(Silence.objects.filter(until__gt=now)),
        ends,
    )


# --- Judging


def judge(
    deployment: Deployment,
    rules: list[AlertRule],
    alerts: list[Alert],
    before: Observation,
    ends: list[datetime],
    now: datetime,
) -> Verdict:
    """Compare one deployment with its rules; writes nothing.

    `alerts` are those that last, `before` what the last look remembered, `ends` when runs ended
    by themselves lately.
    """
    counts = _remembered_counts(before.counts, deployment.metrics, now)
    rows = _rows(deployment, before.rows)
    verdict = Verdict(counts, rows, {})
    is_wanted = deployment.desired == Desired.RUNNING
    sight = _sight(deployment, counts, before.rows, ends, now)
    # Of what is stopped, or watched no more, there is nothing to warn.
    watching = {(rule.pk, rule.measure) for rule in rules} if is_wanted else set()
    verdict.ended = [a for a in alerts if (a.rule_id, a.measure) not in watching]
    lasting = {a.rule_id: a for a in alerts if (a.rule_id, a.measure) in watching}
    for rule in rules if is_wanted else ():
        _judge_rule(rule, deployment, lasting.get(rule.pk), sight, before, verdict, now)
    for alert in verdict.ended:
        alert.ended_at = now
    return verdict


def _judge_rule(
    rule: AlertRule,
    deployment: Deployment,
    alert: Alert | None,
    sight: Sight,
    before: Observation,
    verdict: Verdict,
    now: datetime,
) -> None:
    measure = rule.measures
    reading = measure.read(sight, rule.seconds, now)
    if reading is None:
        return
    if not measure.holds(reading, rule.threshold):
        if alert is not None:
            _calm(alert, measure.calm, verdict, now)
        return
    at = now.timestamp()
    # One in the future was noted before the clock was set back.
    since = min(before.since.get(str(rule.pk), at), at)
    if alert is not None:
        _go_on(alert, rule, deployment, reading, sight, verdict)
    elif measure.seconds == "within" or at - since >= rule.seconds:
        verdict.begun.append(_new_alert(rule, deployment, reading, sight, now))
    else:
        verdict.since[str(rule.pk)] = since


def _calm(alert: Alert, seconds: float, verdict: Verdict, now: datetime) -> None:
    """Note that what an alert warns of is over, and end it once it has been for long enough."""
    if alert.calm_since is None or alert.calm_since > now:
        alert.calm_since = now
        verdict.changed.append(alert)
    if (now - alert.calm_since).total_seconds() >= seconds:
        verdict.ended.append(alert)


def _go_on(
    alert: Alert,
    rule: AlertRule,
    deployment: Deployment,
    reading: Reading,
    sight: Sight,
    verdict: Verdict,
) -> None:
    now_so = {**_found(rule, deployment, reading, sight), "calm_since": None}
    if any(getattr(alert, name) != value for name, value in now_so.items()):
        for name, value in now_so.items():
            setattr(alert, name, value)
        verdict.changed.append(alert)


def _new_alert(
    rule: AlertRule, deployment: Deployment, reading: Reading, sight: Sight, now: datetime
) -> Alert:
    found = _found(rule, deployment, reading, sight)
    return Alert(rule=rule, deployment=deployment, measure=rule.measure, began_at=now, **found)


def _found(
    rule: AlertRule, deployment: Deployment, reading: Reading, sight: Sight
) -> dict[str, Any]:
    """What an alert says: of its rule as it is now, and of what the rule has found."""
    return {
        "name": rule.name,
        "severity": rule.severity,
        "threshold": rule.threshold,
        "value": reading.value,
        "message": _message(rule, deployment, reading, sight),
        "step": reading.step,
    }


def _message(rule: AlertRule, deployment: Deployment, reading: Reading, sight: Sight) -> str:
    """What is so, naming pipeline, step and topic."""
    named = Reading(reading.value, _label(deployment, reading.step), reading.topic)
    said = rule.measures.said(named, rule.threshold, rule.seconds, sight)
    where = "" if deployment.environment == "default" else f" in {deployment.environment}"
    return f"{deployment.pipeline.name}{where}: {said}"[:500]


def _label(deployment: Deployment, step: str | None) -> str | None:
    """What people call a step: its label, else its id."""
    if step is None:
        return None
    steps = deployment.graph.get("steps", ())
    return next((s["label"] for s in steps if s["id"] == step and s.get("label")), step)


# --- What is looked at


def _sight(
    deployment: Deployment,
    counts: list[Any],
    rows_before: int | None,
    ends: list[datetime],
    now: datetime,
) -> Sight:
    metrics, state = deployment.metrics, deployment.state
    begins = state in (State.PENDING, State.STARTING)
    runs = state == State.RUNNING
    if runs and metrics is None:
        # It says nothing before the first row.
        metrics = {"rate": 0.0}
    return Sight(
        state=state,
        metrics=metrics,
        runs=runs,
        tries_again=state == State.BACKING_OFF or (begins and deployment.failures > 0),
        message=deployment.message,
        step=deployment.step,
        ends=ends,
        grown={kind: _grown(counts, kind, now) for kind in COUNTED},
        took_rows=deployment.rate > 0 or _rows_out(deployment) != rows_before,
    )


def _rows(deployment: Deployment, before: int | None) -> int | None:
    """How many rows had come in when nothing came; unchanged while rows come."""
    return before if deployment.rate > 0 else _rows_out(deployment)


def _rows_out(deployment: Deployment) -> int:
    steps = (deployment.metrics or {}).get("steps", {})
    return sum(step.get("out") or 0 for step in steps.values())


def _remembered_counts(before: list[Any], metrics: Any, now: datetime) -> list[Any]:
    """The changes of the counts within the last minute, and the last one before it."""
    steps = (metrics or {}).get("steps", {})
    counted = {kind: _counted(steps, kind) for kind in COUNTED}
    if before and before[-1][1] == counted:
        return before
    at = now.timestamp()
    kept = [entry for entry in before if entry[0] > at - MINUTE]
    older = before[: len(before) - len(kept)][-1:]
    return [*older, *kept, [at, counted]]


def _counted(steps: dict[str, Any], kind: str) -> dict[str, int] | None:
    """The steps that have counted any; None where nothing says so."""
    found = {id_: step[kind] for id_, step in steps.items() if isinstance(step.get(kind), int)}
    return {id_: n for id_, n in found.items() if n} if found else None


def _grown(counts: list[Any], kind: str, now: datetime) -> dict[str, int] | None:
    """By how much each step's count has grown within the last minute."""
    newest = counts[-1][1][kind]
    if newest is None:
        return None
    limit = now.timestamp() - MINUTE
    before = next((c for at, c in reversed(counts) if at <= limit), counts[0][1])[kind] or {}
    grown = {}
    for id_, n in newest.items():
        # Fewer than before: it began afresh.
        more = n - before.get(id_, 0) if n >= before.get(id_, 0) else n
        if more:
            grown[id_] = more
    return grown


# --- Writing


def _write(
    id_: UUID,
    turn: int,
    verdict: Verdict,
    untold: list[Alert],
    silences: list[Silence],
    now: datetime,
) -> None:
    with transaction.atomic():
        deployment = locked_deployment(id_)
        if deployment is None:
            return
        Observation.objects.get_or_create(pk=id_)
        remembered = {"counts": verdict.counts, "rows": verdict.rows, "since": verdict.since}
        if not Observation.objects.filter(pk=id_, turn=turn).update(turn=turn + 1, **remembered):
            # Somebody else has looked in between.
            return
        for alert in verdict.begun:
            alert.save()
            if _is_to_tell(alert, silences):
                untold = [*untold, alert]
        for alert in untold:
            alert.notified_at = now
            put_in_outbox(alert, Notification.About.BEGAN, now)
        for alert in verdict.ended:
            if alert.notified_at and not _is_silenced(alert, silences):
                put_in_outbox(alert, Notification.About.ENDED, now)
        told = {a.pk: a for a in [*verdict.begun, *verdict.changed, *untold, *verdict.ended]}
        for alert in told.values():
            alert.save(update_fields=_WRITTEN)
        tell_alerts(deployment, told)


def _is_to_tell(alert: Alert, silences: list[Silence]) -> bool:
    return (
        alert.notified_at is None
        and alert.calm_since is None
        and alert.acknowledged_at is None
        and alert.rule is not None
        and has_channels(alert.rule)
        and not _is_silenced(alert, silences)
    )


def _is_silenced(alert: Alert, silences: list[Silence]) -> bool:
    return any(silence.covers(alert.rule_id, alert.deployment_id) for silence in silences)
