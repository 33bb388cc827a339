import uuid
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q

from builder.alerts.measures import MEASURES, Measure, MeasureName
from builder.connections.sealed import unseal
from builder.deployments.models import Deployment
from builder.pipelines.models import Pipeline


class Severity(models.TextChoices):
    WARNING = "warning"
    CRITICAL = "critical"


class AlertRule(models.Model):
    """What to warn of, where, and whom to tell besides the page.

    Without folder and pipeline it is on everything; with a deployment, on that one of the
    pipeline's.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=100)
    folder = models.CharField(max_length=100, blank=True)
    pipeline = models.ForeignKey(
        Pipeline, models.CASCADE, null=True, blank=True, related_name="alert_rules"
    )
    deployment = models.ForeignKey(
        Deployment, models.CASCADE, null=True, blank=True, related_name="alert_rules"
    )
    measure = models.CharField(
        max_length=20, choices=[(name, measure.title) for name, measure in MEASURES.items()]
    )
    # None where the measure has nothing to compare with.
    threshold = models.FloatField(null=True, blank=True)
    seconds = models.PositiveIntegerField(default=0)
    severity = models.CharField(max_length=10, choices=Severity.choices, default=Severity.WARNING)
    is_on = models.BooleanField(default=True)
    webhook = models.CharField(max_length=1000, blank=True)
    # Encrypted; what is sent is signed by it.
    webhook_secret = models.TextField(blank=True, editable=False)
    emails = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name", "id")
        constraints = (
            models.CheckConstraint(
                condition=Q(folder="") | Q(pipeline=None), name="rule_on_one_thing"
            ),
            models.CheckConstraint(
                condition=Q(deployment=None) | Q(pipeline__isnull=False),
                name="rule_on_a_deployment_of_a_pipeline",
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def measures(self) -> Measure:
        """How what it watches is read and said."""
        name: MeasureName = self.measure  # type: ignore[assignment]
        return MEASURES[name]

    @property
    def place(self) -> str:
        """What it is on, as a part of a sentence."""
        if self.deployment is not None:
            return str(self.deployment)
        if self.pipeline is not None:
            return f"the pipeline {self.pipeline}"
        return f"the folder {self.folder}" if self.folder else "everything"

    def is_on_deployment(self, deployment: Deployment) -> bool:
        """Whether it watches this deployment."""
        if self.deployment_id:
            return self.deployment_id == deployment.pk
        if self.pipeline_id:
            return self.pipeline_id == deployment.pipeline_id
        return not self.folder or self.folder == deployment.pipeline.folder

    def opened_secret(self) -> str | None:
        """What signs its webhook. Raises NotReadable where the key that encrypted it is gone."""
        return unseal(self.webhook_secret) if self.webhook_secret else None


class Alert(models.Model):
    """A rule that holds for a deployment: one from when it begins until it ends, kept after."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    rule = models.ForeignKey(AlertRule, models.SET_NULL, null=True, related_name="alerts")
    deployment = models.ForeignKey(Deployment, models.CASCADE, related_name="alerts")
    # What the rule said when it began: history outlives the rule.
    name = models.CharField(max_length=100)
    measure = models.CharField(max_length=20)
    severity = models.CharField(max_length=10, choices=Severity.choices)
    threshold = models.FloatField(null=True)
    value = models.FloatField()
    message = models.CharField(max_length=500)
    step = models.CharField(max_length=63, null=True)  # noqa: DJ001
    began_at = models.DateTimeField()
    # Since when what it warns of is over, until it has been for long enough.
    calm_since = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    # When those whom the rule names were to be told; None while it was silenced all along.
    notified_at = models.DateTimeField(null=True)
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )

    class Meta:
        ordering = ("-began_at", "id")
        indexes = (
            models.Index(fields=("deployment", "-began_at")),
            models.Index(fields=("ended_at",)),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("rule", "deployment"),
                condition=Q(ended_at=None),
                name="one_alert_while_it_lasts",
            ),
        )

    def __str__(self) -> str:
        return self.message


class Silence(models.Model):
    """Nobody is told of a rule, of a deployment, or of a rule on a deployment, until a time."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    rule = models.ForeignKey(AlertRule, models.CASCADE, null=True, related_name="silences")
    deployment = models.ForeignKey(Deployment, models.CASCADE, null=True, related_name="silences")
    until = models.DateTimeField()
    comment = models.CharField(max_length=500, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created_at", "id")
        indexes = (models.Index(fields=("until",)),)
        constraints = (
            models.CheckConstraint(
                condition=Q(rule__isnull=False) | Q(deployment__isnull=False),
                name="silence_of_something",
            ),
        )

    def __str__(self) -> str:
        on = [f"the rule {self.rule}"] if self.rule else []
        on += [str(self.deployment)] if self.deployment else []
        return f"silence of {' on '.join(on)}"

    def covers(self, rule_id: Any, deployment_id: Any) -> bool:
        """Whether alerts of this rule on this deployment are silenced."""
        return self.rule_id in (None, rule_id) and self.deployment_id in (None, deployment_id)


class Observation(models.Model):
    """What the evaluation remembers of a deployment from look to look."""

    deployment = models.OneToOneField(
        Deployment, models.CASCADE, primary_key=True, related_name="observation"
    )
    # Grows with each change: who looked at an older one comes too late.
    turn = models.PositiveBigIntegerField(default=0)
    # Each change of the counts within the last minute, and the one before: [[seconds, counts]].
    counts = models.JSONField(default=list)
    # How many rows had come in when the rate was last found to be nothing.
    rows = models.PositiveBigIntegerField(null=True)
    # Since when each rule holds, in seconds of the epoch, by its id.
    since = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"observation of {self.deployment}"


class Notification(models.Model):
    """Something to tell somebody outside, until it is told or given up."""

    class Channel(models.TextChoices):
        WEBHOOK = "webhook"
        EMAIL = "email"

    class About(models.TextChoices):
        BEGAN = "began"
        ENDED = "ended"
        TEST = "test"

    class State(models.TextChoices):
        WAITING = "waiting"
        SENT = "sent"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    rule = models.ForeignKey(AlertRule, models.SET_NULL, null=True, related_name="notifications")
    # None for a test.
    alert = models.ForeignKey(Alert, models.CASCADE, null=True, related_name="notifications")
    channel = models.CharField(max_length=10, choices=Channel.choices)
    about = models.CharField(max_length=10, choices=About.choices)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    # When it is tried next, or, while it is being tried, when whoever tries it counts as gone.
    due_at = models.DateTimeField()
    # How it went, in words.
    said = models.CharField(max_length=300, blank=True)
    asked_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created_at", "id")
        indexes = (models.Index(fields=("state", "due_at")),)

    def __str__(self) -> str:
        return f"{self.about} by {self.channel}: {self.state}"
