import uuid

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models

from builder.connections.addresses import read_addresses


def _sound_addresses(text: str) -> None:
    try:
        read_addresses(text)
    except ValueError as error:
        raise ValidationError(str(error)) from None


class Connection(models.Model):
    """A Kafka cluster, by the name that steps use."""

    class Type(models.TextChoices):
        KAFKA = "kafka", "Kafka"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(
        max_length=63,
        unique=True,
        validators=[
            RegexValidator(
                r"^[a-z][a-z0-9_-]*\Z",
                "Use a small letter, then small letters, digits, dashes and underscores.",
            )
        ],
    )
    type = models.CharField(max_length=20, choices=Type.choices, default=Type.KAFKA)
    bootstrap_servers = models.CharField(
        max_length=1000, validators=[_sound_addresses], help_text="host:port, several by comma"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    def for_runner(self) -> dict[str, str]:
        """What the runner needs of this connection."""
        return {"type": self.type, "bootstrap_servers": self.bootstrap_servers}


def connections_for_runner() -> dict[str, dict[str, str]]:
    """All connections as the runner takes them, by name."""
    return {c.name: c.for_runner() for c in Connection.objects.all()}
