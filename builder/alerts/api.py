from datetime import datetime
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from ninja import Field, Query, Router, Status
from pydantic import AwareDatetime

from builder.access.permissions import visible, visible_or_404
from builder.alerts import actions
from builder.alerts.describe import describe, describe_notification
from builder.alerts.measures import MEASURES, Bounds, MeasureName
from builder.alerts.models import Alert, AlertRule, Silence
from builder.paging import Page
from builder.request import Request
from builder.schema import Body, FolderName, Name, Schema

router = Router(tags=["alerts"])

Severity = Literal["warning", "critical"]


class NotificationOut(Schema):
    id: UUID
    channel: Literal["webhook", "email"]
    about: Literal["began", "ended", "test"]
    state: Literal["waiting", "sent", "failed"]
    attempts: int
    message: str = Field(description="How it went: `failed 3 times: timed out`")
    created_at: datetime


class AlertPipeline(Schema):
    id: UUID
    name: str
    slug: str
    folder: str


class AlertDeployment(Schema):
    id: UUID
    environment: str


class AlertOut(Schema):
    id: UUID
    rule: UUID | None = Field(description="null where the rule is deleted")
    name: str = Field(description="Of the rule")
    measure: MeasureName
    severity: Severity
    message: str
    value: float
    threshold: float | None
    step: str | None
    deployment: AlertDeployment
    pipeline: AlertPipeline
    began_at: datetime
    ended_at: datetime | None = Field(description="null while it lasts")
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    silenced_until: datetime | None
    notifications: list[NotificationOut]


class Alerts(Schema):
    items: list[AlertOut]
    count: int


class AlertFilter(Page):
    open: bool | None = Field(None, description="Only those that last, or only those that are over")
    deployment: UUID | None = None
    pipeline: UUID | None = None
    rule: UUID | None = None
    severity: Severity | None = None
    measure: MeasureName | None = None
    from_: AwareDatetime | None = Field(None, alias="from", description="That ended later, or last")
    to: AwareDatetime | None = Field(None, description="That began before")

    def among(self, rows: QuerySet[Alert]) -> QuerySet[Alert]:
        """Those of the rows that are asked for."""
        if self.open is not None:
            rows = rows.filter(ended_at__isnull=self.open)
        if self.from_ is not None:
            rows = rows.exclude(ended_at__lt=self.from_)
        asked = {
            "deployment": self.deployment,
            "deployment__pipeline": self.pipeline,
            "rule": self.rule,
            "severity": self.severity,
            "measure": self.measure,
            "began_at__lt": self.to,
        }
        return rows.filter(**{name: value for name, value in asked.items() if value is not None})


class RuleIn(Body):
    name: Annotated[Name, Field(max_length=100)]
    measure: MeasureName
    threshold: float | None = Field(None, allow_inf_nan=False)
    seconds: int = Field(
        0, description="For how long it must be so; for restarts the time that is looked back on"
    )
    severity: Severity = "warning"
    is_on: bool = True
    folder: FolderName = Field("", description="Without folder, pipeline, deployment: everything")
    pipeline: UUID | None = None
    deployment: UUID | None = None
    webhook: str = Field("", max_length=1000, description="Where to POST; docs/alerts.md says what")
    webhook_secret: str | None = Field(
        None, max_length=500, description="Signs what is sent; left out it stays, empty it goes"
    )
    emails: list[Annotated[str, Field(max_length=254)]] = Field([], max_length=100)


class RulePipeline(Schema):
    id: UUID
    name: str


class RuleDeployment(Schema):
    id: UUID
    name: str


class RuleOut(Schema):
    id: UUID
    name: str
    measure: MeasureName
    threshold: float | None
    seconds: int
    severity: Severity
    is_on: bool
    folder: str
    pipeline: RulePipeline | None
    deployment: RuleDeployment | None
    webhook: str = Field(description="Only its server, for who may not change the rule")
    signed: bool
    emails: list[str] = Field(description="None, for who may not change the rule")
    may_change: bool
    tests: list[NotificationOut] = Field(description="The newest, and how they went")
    updated_at: datetime


class MeasureOut(Schema):
    name: MeasureName
    title: str
    unit: str
    takes_threshold: bool
    least: float | None
    most: float | None
    whole: bool
    below: bool = Field(description="Whether it warns below the threshold, and not above")
    seconds: Literal["lasts", "within"]


class Rules(Schema):
    items: list[RuleOut]
    count: int
    measures: list[MeasureOut] = Field(description="What a rule may watch")
    mails: bool = Field(description="Whether this installation has a mail server")


class SilenceIn(Body):
    rule: UUID | None = Field(None, description="Give a rule, a deployment, or both")
    deployment: UUID | None = None
    until: AwareDatetime
    comment: str = Field("", max_length=500)


class SilenceOut(Schema):
    id: UUID
    rule: RulePipeline | None
    deployment: RuleDeployment | None
    until: datetime
    comment: str
    by: str | None
    created_at: datetime


class Silences(Schema):
    items: list[SilenceOut]
    count: int


@router.get("/alerts", response=Alerts, summary="List alerts")
def list_alerts(request: Request, asked: Query[AlertFilter]) -> Any:
    """List alerts, those that last and those that are over, newest first."""
    rows = asked.among(visible(request.auth, Alert.objects.all()))
    found = asked.of(rows.only("pk"))
    ids = [alert.pk for alert in found["items"]]
    return {**found, "items": describe(Alert.objects.filter(pk__in=ids))}


@router.post(
    "/alerts/{uuid:alert_id}/acknowledge", response=AlertOut, summary="Acknowledge an alert"
)
def acknowledge_alert(request: Request, alert_id: UUID) -> Any:
    """Say that one looks after it."""
    alert = actions.acknowledge(request.auth, alert_id)
    return describe(Alert.objects.filter(pk=alert.pk))[0]


@router.get("/alert-rules", response=Rules, summary="List alert rules")
def list_alert_rules(request: Request, page: Query[Page]) -> Any:
    """List the rules on all that one sees, and what a rule may watch."""
    found = page.of(visible(request.auth, _rules()))
    found["items"] = [_rule(request, rule) for rule in found["items"]]
    measures = [_measure(name) for name in get_args(MeasureName)]
    return {**found, "measures": measures, "mails": bool(settings.EMAIL_HOST)}


@router.post("/alert-rules", response={201: RuleOut}, summary="Make an alert rule")
def create_alert_rule(request: Request, body: RuleIn) -> Any:
    """Make a rule; 422 with `problems` on the fields that make no sense."""
    return Status(201, _rule(request, actions.make_rule(request.auth, _wanted(body))))


@router.get("/alert-rules/{uuid:rule_id}", response=RuleOut, summary="Get an alert rule")
def get_alert_rule(request: Request, rule_id: UUID) -> Any:
    """Answer one rule."""
    return _rule(request, visible_or_404(request.auth, _rules(), pk=rule_id))


@router.put("/alert-rules/{uuid:rule_id}", response=RuleOut, summary="Change an alert rule")
def update_alert_rule(request: Request, rule_id: UUID, body: RuleIn) -> Any:
    """Change a rule; alerts that it does not give any more end within seconds."""
    return _rule(request, actions.change_rule(request.auth, rule_id, _wanted(body)))


@router.delete("/alert-rules/{uuid:rule_id}", response={204: None}, summary="Delete an alert rule")
def delete_alert_rule(request: Request, rule_id: UUID) -> Any:
    """Delete a rule; its alerts end, and stay in the history."""
    actions.delete_rule(request.auth, rule_id)
    return Status(204, None)


@router.post("/alert-rules/{uuid:rule_id}/test", response=RuleOut, summary="Test an alert rule")
def test_alert_rule(request: Request, rule_id: UUID) -> Any:
    """Send a test to those whom a rule names; how it went stands in `tests` soon after."""
    return _rule(request, actions.test_rule(request.auth, rule_id))


@router.get("/silences", response=Silences, summary="List silences")
def list_silences(request: Request, page: Query[Page]) -> Any:
    """List silences, those that hold and those that are over, newest first."""
    found = page.of(actions.silences_seen_by(request.auth))
    found["items"] = [_silence(silence) for silence in found["items"]]
    return found


@router.post("/silences", response={201: SilenceOut}, summary="Silence alerts")
def create_silence(request: Request, body: SilenceIn) -> Any:
    """Have nobody told of a rule, a deployment, or of both, until a time; the page shows all."""
    return Status(201, _silence(actions.silence(request.auth, **body.model_dump())))


@router.delete("/silences/{uuid:silence_id}", response={204: None}, summary="End a silence")
def end_silence(request: Request, silence_id: UUID) -> Any:
    """Have people told again, from now on."""
    actions.end_silence(request.auth, silence_id)
    return Status(204, None)


def _rules() -> QuerySet[AlertRule]:
    return AlertRule.objects.select_related("pipeline", "deployment__pipeline")


def _wanted(body: RuleIn) -> actions.Wanted:
    given = body.model_dump()
    emails = tuple(email.strip(" ") for email in given.pop("emails"))
    return actions.Wanted(**given, emails=emails)


def _rule(request: Request, rule: AlertRule) -> dict[str, Any]:
    may = actions.may_change(request.auth, rule)
    pipeline, deployment = rule.pipeline, rule.deployment
    tests = rule.notifications.filter(alert=None)[:4]
    return {
        "id": rule.pk,
        "name": rule.name,
        "measure": rule.measure,
        "threshold": rule.threshold,
        "seconds": rule.seconds,
        "severity": rule.severity,
        "is_on": rule.is_on,
        "folder": rule.folder,
        "pipeline": pipeline and {"id": pipeline.pk, "name": pipeline.name},
        "deployment": deployment and {"id": deployment.pk, "name": str(deployment)},
        # The way to many a webhook is as good as a password.
        "webhook": rule.webhook if may else _server(rule.webhook),
        "signed": bool(rule.webhook_secret),
        "emails": rule.emails if may else [],
        "may_change": may,
        "tests": [describe_notification(n) for n in tests] if may else [],
        "updated_at": rule.updated_at,
    }


def _server(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/…" if url else ""


def _measure(name: MeasureName) -> dict[str, Any]:
    measure = MEASURES[name]
    bounds = measure.threshold
    limits = bounds or Bounds(0, 0)
    return {
        "name": name,
        "title": measure.title,
        "unit": measure.unit,
        "takes_threshold": bounds is not None,
        "least": bounds and limits.least,
        "most": bounds and limits.most,
        "whole": limits.whole,
        "below": measure.below,
        "seconds": measure.seconds,
    }


def _silence(silence: Silence) -> dict[str, Any]:
    rule, deployment = silence.rule, silence.deployment
    return {
        "id": silence.pk,
        "rule": rule and {"id": rule.pk, "name": rule.name},
        "deployment": deployment and {"id": deployment.pk, "name": str(deployment)},
        "until": silence.until,
        "comment": silence.comment,
        "by": silence.by and silence.by.get_username(),
        "created_at": silence.created_at,
    }
