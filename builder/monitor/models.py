from uuid import UUID

from django.core.validators import MinValueValidator
from django.db import models

from builder.deployments.models import Deployment


class Metric(models.Model):
    """What a deployment had counted and measured at one second."""

    deployment = models.ForeignKey(Deployment, models.CASCADE, related_name="points")
    at = models.DateTimeField()
    rate = models.FloatField()
    lag = models.BigIntegerField(null=True)
    lag_seconds = models.FloatField(null=True)
    latency_ms = models.FloatField(null=True)
    restarts = models.PositiveIntegerField(default=0)
    # {step: {"in", "out", "dropped", "errors", "rate"}}
    steps = models.JSONField()
    # {segment: {"batch_ms", "latency_ms", "latency_p99_ms", "lag", "lag_seconds",
    # "watermark_delay", "state_rows", "state_bytes"}}
    segments = models.JSONField(default=dict)

    class Meta:
        ordering = ("at",)
        constraints = (
            models.UniqueConstraint(fields=("deployment", "at"), name="one_metric_per_second"),
        )

    def __str__(self) -> str:
        return f"{self.deployment} at {self.at:%H:%M:%S}"


class MetricBlock(models.Model):
    """The points of a deployment over a span, one every so many seconds."""

    deployment = models.ForeignKey(Deployment, models.CASCADE, related_name="blocks")
    every = models.PositiveIntegerField()
    # When its span begins.
    at = models.DateTimeField()
    # A list of points as JSON, compressed.
    packed = models.BinaryField()
    # [[at, seconds, rate, lag, latency_ms]] of fewer points: all that a sparkline takes.
    outline = models.JSONField()

    class Meta:
        ordering = ("at",)
        constraints = (
            models.UniqueConstraint(
                fields=("deployment", "every", "at"), name="one_block_per_span"
            ),
        )
        indexes = (models.Index(fields=("every", "at"), name="blocks_of_a_time"),)

    def __str__(self) -> str:
        return f"{self.deployment} from {self.at:%Y-%m-%d %H:%M}, every {self.every} s"


class Sequence(models.Model):
    """Counts the events told on a list of deployments."""

    name = models.CharField(max_length=30, primary_key=True)
    value = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.name}: {self.value}"


_ONLY = UUID(int=1)
_AT_LEAST_ONE = [MinValueValidator(1)]


class Retention(models.Model):
    """How long what piles up is kept, for the whole installation. Activity is kept for good."""

    id = models.UUIDField(primary_key=True, default=_ONLY, editable=False)
    runs_kept = models.PositiveIntegerField(
        default=50, validators=_AT_LEAST_ONE, help_text="newest runs of each deployment"
    )
    metrics_1s_minutes = models.PositiveIntegerField(
        default=60,
        validators=[MinValueValidator(15)],
        verbose_name="metrics, each second: minutes",
    )
    metrics_10s_days = models.PositiveIntegerField(
        default=1, validators=_AT_LEAST_ONE, verbose_name="metrics, every 10 seconds: days"
    )
    metrics_1min_days = models.PositiveIntegerField(
        default=31, validators=[MinValueValidator(2)], verbose_name="metrics, every minute: days"
    )
    metrics_1h_days = models.PositiveIntegerField(
        default=400, validators=[MinValueValidator(2)], verbose_name="metrics, every hour: days"
    )
    log_days = models.PositiveIntegerField(
        default=30, validators=_AT_LEAST_ONE, help_text="after a run has ended"
    )
    log_megabytes = models.PositiveIntegerField(
        default=500, validators=_AT_LEAST_ONE, help_text="of the logs of each deployment"
    )
    checkpoint_days = models.PositiveIntegerField(
        default=7,
        validators=_AT_LEAST_ONE,
        help_text="after the last change of checkpoints that nothing uses any more",
    )
    key_days = models.PositiveIntegerField(
        default=1, validators=_AT_LEAST_ONE, help_text="of requests with an Idempotency-Key"
    )

    class Meta:
        verbose_name_plural = "retention"

    def __str__(self) -> str:
        return "Retention"

    @classmethod
    def current(cls) -> "Retention":
        """What holds now; made with its defaults where nobody has chosen yet."""
        return cls.objects.get_or_create(pk=_ONLY)[0]


class Leftover(models.Model):
    """Internal topics of a deployment that is no more, until their cluster has let go of them."""

    name = models.CharField(max_length=100)
    connection = models.CharField(max_length=63)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("name", "connection"), name="one_leftover_per_cluster"),
        )

    def __str__(self) -> str:
        return f"headrace.{self.name}.* in {self.connection}"
