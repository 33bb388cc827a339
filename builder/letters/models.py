import uuid

from django.conf import settings
from django.db import models

from builder.deployments.models import Deployment


class Replay(models.Model):
    """A dead letter that somebody wrote to its topic again; what was in it is not kept.

    It is made before the record is written, so that two who press at once do not write it
    twice. Without an offset nobody can say whether it arrived.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    deployment = models.ForeignKey(Deployment, models.CASCADE, related_name="replays")
    step = models.CharField(max_length=63)
    # Its dead letter, and the record that could not be read (its hash): a letter may be there
    # twice for one record.
    letter = models.CharField(max_length=300)
    record = models.CharField(max_length=64)
    attempt = models.PositiveIntegerField()
    edited = models.BooleanField()
    topic = models.CharField(max_length=249)
    partition = models.PositiveIntegerField(null=True)
    offset = models.PositiveBigIntegerField(null=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    username = models.CharField(max_length=150)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("at", "attempt")
        constraints = (
            models.UniqueConstraint(
                fields=("deployment", "record", "attempt"), name="one_replay_per_attempt"
            ),
        )

    def __str__(self) -> str:
        return f"{self.letter} by {self.username}"
