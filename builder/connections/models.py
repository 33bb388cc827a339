import uuid
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models

from builder.connections.addresses import read_addresses
from builder.connections.sealed import unseal


def _sound_addresses(text: str) -> None:
    try:
        read_addresses(text)
    except ValueError as error:
        raise ValidationError(str(error)) from None


class Connection(models.Model):
    """A Kafka cluster, a database, a folder or a registry, by the name that steps use."""

    class Type(models.TextChoices):
        KAFKA = "kafka", "Kafka"
        POSTGRESQL = "postgresql", "PostgreSQL"
        FILES = "files", "Files"
        SCHEMA_REGISTRY = "schema_registry", "Schema registry"

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
        max_length=1000,
        blank=True,
        validators=[_sound_addresses],
        help_text="host:port, several by comma",
    )
    # What else its type has to say, as connection_types.py lists it.
    settings = models.JSONField(default=dict, blank=True)
    # Each of its secrets by name, encrypted.
    secrets = models.JSONField(default=dict, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    def for_runner(self) -> dict[str, Any]:
        """What the runner needs of this connection; no secret is among it."""
        of_kafka = {"bootstrap_servers": self.bootstrap_servers}
        return {
            "type": self.type,
            **(of_kafka if self.type == self.Type.KAFKA else {}),
            **self.settings,
        }

    def opened_secrets(self) -> dict[str, str]:
        """Its secrets. Raises NotReadable where the key that encrypted them is gone."""
        return {name: unseal(token) for name, token in self.secrets.items()}

    def with_secrets(self) -> dict[str, Any]:
        """What whoever uses this connection needs. Raises NotReadable."""
        return {**self.for_runner(), **self.opened_secrets()}


def connections_for_runner() -> dict[str, dict[str, Any]]:
    """All connections as the runner takes them, by name."""
    return {c.name: c.for_runner() for c in Connection.objects.all()}
