import uuid
from typing import Any

from django.conf import settings
from django.db import models

from runner.graph import Graph, read_graph


class Pipeline(models.Model):
    """A drawing, always a draft. `revision` counts its saves."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200)
    # Names the pipeline's internal topics and checkpoints, so it stays when the name changes.
    slug = models.SlugField(max_length=60, unique=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="pipelines"
    )
    revision = models.PositiveIntegerField(default=1)
    graph = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("-updated_at", "id")

    def __str__(self) -> str:
        return self.name

    def read(self) -> Graph:
        """The draft as a graph of sound shape."""
        return read_graph(self.graph)


class Version(models.Model):
    """A frozen graph of a pipeline, numbered from 1."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    pipeline = models.ForeignKey(Pipeline, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    graph = models.JSONField()
    # The same for graphs that mean the same, wherever their steps stand on the canvas.
    hash = models.CharField(max_length=64)
    comment = models.CharField(max_length=500, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-number",)
        constraints = (
            models.UniqueConstraint(fields=("pipeline", "number"), name="one_version_per_number"),
        )

    def __str__(self) -> str:
        return f"{self.pipeline} {self.number}"


def empty_graph() -> dict[str, Any]:
    return {"version": 1, "steps": [], "edges": []}
