from django.db import models

from builder.deployments.models import Run


class ToldRun(models.Model):
    """How much of a run its catalogue was told; made with the first try."""

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="told")
    # How many of its events were taken: that it started, that it runs, how it ended.
    events = models.PositiveSmallIntegerField(default=0)
    is_done = models.BooleanField(default=False)
    attempts = models.PositiveIntegerField(default=0)
    # When it is tried next, or, while it is being tried, when whoever tries it counts as gone.
    due_at = models.DateTimeField()
    # Why the last try failed, in words.
    said = models.CharField(max_length=300, blank=True)

    def __str__(self) -> str:
        return f"{self.run}: {self.events} events told"
