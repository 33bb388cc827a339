import uuid
from typing import Any

from django.core.validators import RegexValidator
from django.db import models

from builder.connections.models import Connection
from builder.environments.profile import Profile


class Environment(models.Model):
    """Where deployments run: which cluster is meant by a connection's name, and how Spark runs.

    A deployment names its environment. One that nobody has made means every connection by its
    own name, and Spark as the installation has it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(
        max_length=30,
        unique=True,
        validators=[
            RegexValidator(
                r"^[a-z][a-z0-9-]*\Z", "Use a small letter, then small letters, digits and dashes."
            )
        ],
    )
    master = models.CharField(
        max_length=500, blank=True, help_text="local[*] or spark://host:port; empty: as installed"
    )
    cores = models.PositiveIntegerField(
        null=True, blank=True, help_text="how many tasks of a deployment can run at once"
    )
    driver_memory = models.CharField(max_length=10, blank=True, help_text="such as 2g")
    executor_memory = models.CharField(max_length=10, blank=True, help_text="such as 4g")
    # Further settings of Spark, by name.
    conf = models.JSONField(default=dict, blank=True)
    # Names of columns whose values nobody is shown, `*` for any letters.
    masks = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    @property
    def profile(self) -> Profile:
        """How Spark runs its deployments."""
        return Profile(
            self.master, self.cores, self.driver_memory, self.executor_memory, dict(self.conf)
        )

    @property
    def stands_for(self) -> dict[str, str]:
        """The connections that are meant here by other names than their own."""
        return {m.name: m.connection.name for m in self.meanings.select_related("connection")}


class Meaning(models.Model):
    """Which connection a name in a graph means in one environment."""

    environment = models.ForeignKey(Environment, models.CASCADE, related_name="meanings")
    name = models.CharField(max_length=63)
    connection = models.ForeignKey(Connection, models.CASCADE, related_name="+")

    class Meta:
        ordering = ("name",)
        constraints = (
            models.UniqueConstraint(fields=("environment", "name"), name="one_meaning_of_a_name"),
        )

    def __str__(self) -> str:
        return f"{self.name} is {self.connection} in {self.environment}"


def profile_of(environment: str) -> Profile:
    """How Spark runs the deployments of an environment, made or not."""
    made = Environment.objects.filter(name=environment).first()
    return made.profile if made else Profile()


def masks_of(environment: str) -> list[str]:
    """The names of the columns whose values are not shown in an environment."""
    made = Environment.objects.filter(name=environment).first()
    return list(made.masks) if made else []


def all_masks() -> list[str]:
    """The names of masked columns of all environments, for what belongs to none of them."""
    return sorted({name for made in Environment.objects.all() for name in made.masks})


def meant_by(environment: str) -> dict[str, str]:
    """The names of the connections, by the names that graphs use in an environment."""
    names = {name: name for name in Connection.objects.values_list("name", flat=True)}
    made = Environment.objects.filter(name=environment).first()
    return {**names, **(made.stands_for if made else {})}


def rows_in(environment: str) -> dict[str, Connection]:
    """All connections, by the names that graphs use in an environment."""
    there = {connection.name: connection for connection in Connection.objects.all()}
    return {name: there[meant] for name, meant in meant_by(environment).items() if meant in there}


def connections_in(environment: str) -> dict[str, Any]:
    """All connections as the runner takes them, by the names that graphs use in an environment."""
    return {name: row.for_runner() for name, row in rows_in(environment).items()}
