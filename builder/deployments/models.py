import uuid
from pathlib import Path

from django.conf import settings
from django.db import models

from builder.pipelines.models import Pipeline, Version


class State(models.TextChoices):
    PENDING = "pending"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    BACKING_OFF = "backing_off"
    FAILED = "failed"


class Desired(models.TextChoices):
    RUNNING = "running"
    STOPPED = "stopped"


class Deployment(models.Model):
    """A version that should run in an environment: what is wanted, and what is so."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    pipeline = models.ForeignKey(Pipeline, models.CASCADE, related_name="deployments")
    environment = models.SlugField(max_length=30, default="default")
    version = models.ForeignKey(Version, models.CASCADE, related_name="+")

    # What is wanted. A run of an older generation is stopped and replaced.
    desired = models.CharField(max_length=10, choices=Desired.choices, default=Desired.RUNNING)
    generation = models.PositiveIntegerField(default=1)
    mode = models.CharField(max_length=20, default="auto")
    start = models.JSONField(null=True)
    # Whether the next run begins without the checkpoints that are there.
    fresh = models.BooleanField(default=False)

    # Frozen when deployed: exactly what runs.
    name = models.CharField(max_length=100)
    graph = models.JSONField()
    script = models.TextField()
    segments = models.JSONField(default=list)
    topics = models.JSONField(default=list)
    conf = models.JSONField(default=dict)
    # What the pipeline's test cases said of this graph, None for what was deployed before they did.
    tests = models.JSONField(null=True)

    # What is so.
    state = models.CharField(max_length=20, choices=State.choices, default=State.PENDING)
    message = models.CharField(max_length=2000, blank=True)
    # None where no step is at fault, which is another thing than one without a name.
    step = models.CharField(max_length=63, null=True)  # noqa: DJ001
    missing_topics = models.JSONField(default=list)
    failures = models.PositiveIntegerField(default=0)
    # How many runs began because the one before crashed or met an outage.
    restarts = models.PositiveIntegerField(default=0)
    retry_at = models.DateTimeField(null=True)
    metrics = models.JSONField(null=True)
    samples = models.JSONField(default=dict)
    # Counts the events told about this deployment.
    seq = models.PositiveBigIntegerField(default=0)

    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("-created_at", "id")
        constraints = (
            models.UniqueConstraint(
                fields=("pipeline", "environment"), name="one_deployment_per_environment"
            ),
        )

    def __str__(self) -> str:
        return f"{self.pipeline} in {self.environment}"

    @property
    def folder(self) -> Path:
        """Where the files of its runs and checkpoints stand."""
        root: Path = settings.HEADRACE_DATA
        return root / "deployments" / str(self.id)

    @property
    def rate(self) -> float:
        """Rows per second that its sources give now."""
        return float((self.metrics or {}).get("rate", 0.0))

    def live_run(self) -> "Run | None":
        """The run that may process rows now."""
        return self.runs.filter(ended_at=None, standby=False).first()

    def standby_run(self) -> "Run | None":
        """The run that waits, ready, for the live one to end."""
        return self.runs.filter(ended_at=None, standby=True).first()

    def version_before(self) -> Version | None:
        """The version that ran here before this one; None where no other has."""
        others = self.runs.exclude(version=None).exclude(version=self.version_id)
        run = others.exclude(running_at=None).select_related("version").first()
        return run.version if run else None


class Run(models.Model):
    """One process attempt of a deployment. Without `ended_at` it is live, or stands by."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    deployment = models.ForeignKey(Deployment, models.CASCADE, related_name="runs")
    epoch = models.PositiveIntegerField()
    generation = models.PositiveIntegerField()
    version = models.ForeignKey(Version, models.SET_NULL, null=True, related_name="+")
    # It replaces another: its Spark stands, and it waits until the other has let go.
    standby = models.BooleanField(default=False)

    # Which process it is: a pid alone may be another's after a while, or after a reboot.
    boot_id = models.CharField(max_length=36, blank=True)
    pid = models.PositiveIntegerField(null=True)
    start_ticks = models.PositiveBigIntegerField(null=True)

    state = models.CharField(max_length=20, choices=State.choices, default=State.STARTING)
    message = models.CharField(max_length=2000, blank=True)
    exit = models.JSONField(null=True)
    started_at = models.DateTimeField()
    running_at = models.DateTimeField(null=True)
    stop_asked_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    heartbeat = models.DateTimeField(null=True)
    # Seconds of the machine's monotonic clock, which no change of the time of day moves: when it
    # was started and asked to stop, when its process last gave a sign of life, and when its rows
    # last moved on. What was seen then stands beside them.
    started_clock = models.FloatField(default=0)
    asked_clock = models.FloatField(null=True)
    sign_at = models.FloatField(null=True)
    sign = models.BigIntegerField(null=True)
    moved_at = models.FloatField(null=True)
    position = models.JSONField(null=True)

    # How far its events are read, and what earlier runs had counted when it began.
    events_offset = models.PositiveBigIntegerField(default=0)
    counts_before = models.JSONField(default=dict)
    # Of the deployment, when it began.
    tests = models.JSONField(null=True)

    class Meta:
        ordering = ("-epoch",)
        constraints = (
            models.UniqueConstraint(fields=("deployment", "epoch"), name="one_run_per_epoch"),
            models.UniqueConstraint(
                fields=("deployment",),
                condition=models.Q(ended_at=None, standby=False),
                name="one_live_run_per_deployment",
            ),
            models.UniqueConstraint(
                fields=("deployment",),
                condition=models.Q(ended_at=None, standby=True),
                name="one_standby_run_per_deployment",
            ),
        )

    def __str__(self) -> str:
        return f"run {self.epoch} of {self.deployment}"

    @property
    def folder(self) -> Path:
        return self.deployment.folder / "runs" / str(self.epoch)


class DeployRequest(models.Model):
    """A request to deploy that carried an Idempotency-Key, so that repeating it is harmless."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    # Of what was asked: the same key must not ask for something else.
    digest = models.CharField(max_length=64)
    deployment = models.ForeignKey(Deployment, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("user", "key"), name="one_request_per_key"),)

    def __str__(self) -> str:
        return self.key
