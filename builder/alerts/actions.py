"""Every write to rules, silences and alerts that somebody asks for."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from builder.access.activity import record
from builder.access.permissions import require, visible, visible_or_404
from builder.alerts.measures import MEASURES, MeasureName, in_words, number
from builder.alerts.models import Alert, AlertRule, Silence
from builder.alerts.outbox import has_channels, put_test_in_outbox
from builder.alerts.tell_alerts import locked_deployment, tell_alerts
from builder.connections.sealed import seal, sealed_anew
from builder.deployments.models import Deployment
from builder.pipelines.models import Pipeline
from builder.post_json import read_url
from builder.refused import Refused, unsound
from runner.problems import Problem

LONGEST = 7 * 86400
# A process is looked at every five seconds: in less nothing can be told of rows.
SHORTEST_WITHOUT_DATA = 30
MOST_EMAILS = 20
MOST_RULES = 500
LONGEST_SILENCE = timedelta(days=366)


@dataclass(frozen=True)
class Wanted:
    """A rule as somebody wants it. `webhook_secret` None leaves the one it has, "" takes it away.

    Without folder and pipeline it is on everything; a deployment brings its pipeline along.
    """

    name: str
    measure: MeasureName
    threshold: float | None = None
    seconds: int = 0
    severity: str = "warning"
    is_on: bool = True
    folder: str = ""
    pipeline: UUID | None = None
    deployment: UUID | None = None
    webhook: str = ""
    webhook_secret: str | None = field(default=None, repr=False)
    emails: tuple[str, ...] = ()


def make_rule(user: User, wanted: Wanted) -> AlertRule:
    """Make a rule. Raises Refused: 404 for a place that one does not see, 422 with problems."""
    rule = AlertRule()
    _place(user, rule, wanted)
    _require_rule(user, "add", rule)
    if AlertRule.objects.count() >= MOST_RULES:
        raise Refused(409, f"There are {MOST_RULES} rules already; delete one first.")
    with transaction.atomic():
        _write(rule, wanted)
        record(user, "add", rule, f"{user} made the alert rule {rule} on {rule.place}")
    return rule


def change_rule(user: User, rule_id: UUID, wanted: Wanted) -> AlertRule:
    """Change a rule; alerts that it does not give any more end at the next look."""
    with transaction.atomic():
        rule = _locked_rule(user, "change", rule_id)
        _place(user, rule, wanted)
        # Nor may one move it to where one may not make one.
        _require_rule(user, "change", rule)
        _write(rule, wanted)
        record(user, "change", rule, f"{user} changed the alert rule {rule} on {rule.place}")
    return rule


def delete_rule(user: User, rule_id: UUID) -> None:
    """Delete a rule; its alerts end at the next look, and stay in the history."""
    with transaction.atomic():
        rule = _locked_rule(user, "delete", rule_id)
        record(user, "delete", rule, f"{user} deleted the alert rule {rule} on {rule.place}")
        rule.delete()


def test_rule(user: User, rule_id: UUID) -> AlertRule:
    """Send a test to those whom a rule names. Raises Refused (409) where it names nobody."""
    with transaction.atomic():
        rule = _locked_rule(user, "change", rule_id)
        if not has_channels(rule):
            raise Refused(409, "This rule tells nobody but the page; give it somebody to tell.")
        put_test_in_outbox(rule, user, timezone.now())
        record(user, "test", rule, f"{user} sent a test of the alert rule {rule}")
    return rule


def acknowledge(user: User, alert_id: UUID) -> Alert:
    """Say that somebody looks after an alert; nobody is told of it any more but of its end."""
    seen = visible_or_404(user, Alert.objects.select_related("deployment__pipeline"), pk=alert_id)
    require(user, "acknowledge", seen)
    with transaction.atomic():
        deployment = locked_deployment(seen.deployment_id)
        alert = visible_or_404(user, Alert.objects.select_for_update(), pk=alert_id)
        if alert.acknowledged_at is None and deployment is not None:
            alert.acknowledged_at, alert.acknowledged_by = timezone.now(), user
            alert.save(update_fields=("acknowledged_at", "acknowledged_by"))
            record(user, "acknowledge", deployment, f"{user} acknowledged: {alert.message}")
            tell_alerts(deployment, [alert.pk])
    return alert


def silence(
    user: User,
    *,
    until: datetime,
    rule: UUID | None = None,
    deployment: UUID | None = None,
    comment: str = "",
) -> Silence:
    """Have nobody told of a rule, a deployment or one on the other until a time.

    Raises Refused: 404 for what one does not see, 422 for a time that is over or too far away.
    """
    if rule is None and deployment is None:
        raise unsound([Problem(None, "rule", "Name a rule, a deployment, or both.")], "The silence")
    made = Silence(until=until, comment=" ".join(comment.split()), by=user)
    if rule is not None:
        made.rule = visible_or_404(user, AlertRule.objects.all(), pk=rule)
    if deployment is not None:
        rows = Deployment.objects.select_related("pipeline")
        made.deployment = visible_or_404(user, rows, pk=deployment)
    _require_silence(user, made)
    now = timezone.now()
    if not now < until <= now + LONGEST_SILENCE:
        message = "Choose a time that is to come, within a year."
        raise unsound([Problem(None, "until", message)], "The silence")
    with transaction.atomic():
        made.save()
        message = f"{user} silenced alerts: {made} until {until:%Y-%m-%d %H:%M} UTC"
        record(user, "silence", _subject(made), message)
        _tell_those_silenced(made)
    return made


def end_silence(user: User, silence_id: UUID) -> None:
    """Have people told again, from now on."""
    found = silences_seen_by(user).filter(pk=silence_id).first()
    if found is None:
        raise Refused(404, "There is nothing here, or nothing that you may see.")
    _require_silence(user, found)
    with transaction.atomic():
        now = timezone.now()
        if Silence.objects.filter(pk=silence_id, until__gt=now).update(until=now):
            record(user, "unsilence", _subject(found), f"{user} ended the {found}")
            _tell_those_silenced(found)


def silences_seen_by(user: User) -> Any:
    """The silences of deployments and rules that one sees."""
    rows = Silence.objects.select_related("rule", "deployment__pipeline", "by")
    of_deployment = rows.filter(deployment__in=visible(user, Deployment.objects.order_by()))
    of_rule = rows.filter(deployment=None, rule__in=visible(user, AlertRule.objects.order_by()))
    return of_deployment | of_rule


def renew_encryption() -> int:
    """Encrypt the secrets of webhooks by the first key; how many there are."""
    with transaction.atomic():
        rules = list(AlertRule.objects.select_for_update().exclude(webhook_secret=""))
        for rule in rules:
            rule.webhook_secret = sealed_anew(rule.webhook_secret)
            rule.save(update_fields=["webhook_secret"])
        if rules:
            record(None, "change", rules[0], "Headrace encrypted the secrets of webhooks anew")
    return len(rules)


def may_change(user: User, rule: AlertRule) -> bool:
    """Whether the user may change a rule."""
    try:
        _require_rule(user, "change", rule)
    except Refused:
        return False
    return True


def faults(wanted: Wanted) -> list[Problem]:
    """All that makes no sense in a rule that somebody wants, each on its field."""
    found = [*_threshold_faults(wanted), *_seconds_faults(wanted), *_channel_faults(wanted)]
    return [Problem(None, at, message) for at, message in found]


# --- Who may


def _require_rule(user: User, verb: Any, rule: AlertRule) -> None:
    # One for many pipelines is not in the hands of those who operate one of them.
    require(user, verb if rule.pipeline else "share", rule)


def _locked_rule(user: User, verb: Any, rule_id: UUID) -> AlertRule:
    rows = AlertRule.objects.select_related("pipeline", "deployment__pipeline")
    _require_rule(user, verb, visible_or_404(user, rows, pk=rule_id))
    return visible_or_404(user, AlertRule.objects.select_for_update(), pk=rule_id)


def _require_silence(user: User, silence: Silence) -> None:
    if silence.deployment is not None:
        require(user, "change", silence.deployment)
    else:
        require(user, "silence", silence.rule or AlertRule)


# --- Writing


def _place(user: User, rule: AlertRule, wanted: Wanted) -> None:
    """Put a rule (unsaved) where it is wanted. Raises Http404 for what one does not see."""
    rule.folder, rule.pipeline, rule.deployment = wanted.folder, None, None
    if wanted.deployment is not None:
        rows = Deployment.objects.select_related("pipeline")
        rule.deployment = visible_or_404(user, rows, pk=wanted.deployment)
        rule.pipeline = rule.deployment.pipeline
    elif wanted.pipeline is not None:
        rule.pipeline = visible_or_404(user, Pipeline.objects.all(), pk=wanted.pipeline)
    if wanted.folder and rule.pipeline is not None:
        message = "Choose a folder, or a pipeline or deployment; none of them for everything."
        raise unsound([Problem(None, "folder", message)], "The rule")


def _write(rule: AlertRule, wanted: Wanted) -> None:
    if problems := faults(wanted):
        raise unsound(problems, "The rule")
    rule.name = wanted.name
    rule.measure = wanted.measure
    rule.threshold = wanted.threshold
    rule.seconds = wanted.seconds
    rule.severity = wanted.severity
    rule.is_on = wanted.is_on
    rule.webhook = wanted.webhook
    rule.emails = list(dict.fromkeys(wanted.emails))
    if wanted.webhook_secret is not None:
        rule.webhook_secret = seal(wanted.webhook_secret) if wanted.webhook_secret else ""
    if not rule.webhook:
        rule.webhook_secret = ""
    rule.save()


def _subject(silence: Silence) -> Any:
    return silence.deployment or silence.rule


def _tell_those_silenced(silence: Silence) -> None:
    """Have those who watch see the mark, or see it go."""
    lasting = Alert.objects.filter(ended_at=None)
    if silence.rule is not None:
        lasting = lasting.filter(rule=silence.rule)
    if silence.deployment is not None:
        lasting = lasting.filter(deployment=silence.deployment)
    of: dict[UUID, list[UUID]] = {}
    for id_, deployment_id in lasting.values_list("pk", "deployment"):
        of.setdefault(deployment_id, []).append(id_)
    for deployment_id, ids in sorted(of.items()):
        deployment = locked_deployment(deployment_id)
        if deployment is not None:
            tell_alerts(deployment, ids)


# --- What makes no sense


def _threshold_faults(wanted: Wanted) -> list[tuple[str, str]]:
    bounds = MEASURES[wanted.measure].threshold
    given = wanted.threshold
    if bounds is None:
        message = "There is nothing to compare with here; leave it out."
        return [("threshold", message)] if given is not None else []
    least, most = number(bounds.least), number(bounds.most)
    if bounds.least < 1 and bounds.least:
        least = f"{bounds.least:g}"
    if given is None or not bounds.least <= given <= bounds.most:
        return [("threshold", f"Write a number from {least} to {most}.")]
    if bounds.whole and given != int(given):
        return [("threshold", "Write a whole number.")]
    return []


def _seconds_faults(wanted: Wanted) -> list[tuple[str, str]]:
    measure = MEASURES[wanted.measure]
    least = 0
    if measure.seconds == "within":
        least = 60
    elif wanted.measure == "no_data":
        least = SHORTEST_WITHOUT_DATA
    if not least <= wanted.seconds <= LONGEST:
        return [("seconds", f"Choose from {in_words(least)} to {in_words(LONGEST)}.")]
    return []


def _channel_faults(wanted: Wanted) -> list[tuple[str, str]]:
    found = []
    if wanted.webhook:
        try:
            read_url(wanted.webhook)
        except ValueError as error:
            found.append(("webhook", str(error)))
    elif wanted.webhook_secret:
        found.append(("webhook_secret", "Only what goes to a webhook is signed; give its address."))
    if wanted.emails and not settings.EMAIL_HOST:
        message = "This installation has no mail server; its administrator sets HEADRACE_SMTP_URL."
        found.append(("emails", message))
    if len(wanted.emails) > MOST_EMAILS:
        found.append(("emails", f"Name {MOST_EMAILS} addresses at most, or a list of yours."))
    for email in wanted.emails[:MOST_EMAILS]:
        try:
            validate_email(email)
        except ValidationError:
            found.append(("emails", f"{email[:80]!r} is no e-mail address."))
    return found
