from django.db import models

from builder.deployments.models import Deployment


class Metric(models.Model):
    """What a deployment had counted at one second."""

    deployment = models.ForeignKey(Deployment, models.CASCADE, related_name="points")
    at = models.DateTimeField()
    rate = models.FloatField()
    # {step: {"in", "out", "rate"}}
    steps = models.JSONField()

    class Meta:
        ordering = ("at",)
        constraints = (
            models.UniqueConstraint(fields=("deployment", "at"), name="one_metric_per_second"),
        )

    def __str__(self) -> str:
        return f"{self.deployment} at {self.at:%H:%M:%S}"


class Sequence(models.Model):
    """Counts the events told on a list of deployments."""

    name = models.CharField(max_length=30, primary_key=True)
    value = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.name}: {self.value}"
