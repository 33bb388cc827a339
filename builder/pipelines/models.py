import uuid
from typing import Any, TypedDict

from django.conf import settings
from django.db import models

from runner.graph import Graph, read_graph

# Columns of a test case that may be megabytes.
_LARGE = ("rows", "expected")


class Tests(TypedDict):
    """What a pipeline's test cases say of one graph: how many passed, which failed."""

    passed: int
    failed: list[str]
    not_run: int


class Pipeline(models.Model):
    """A drawing, always a draft. `revision` counts its saves."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200)
    # Names the pipeline's internal topics and checkpoints, so it stays when the name changes.
    slug = models.SlugField(max_length=60, unique=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="pipelines"
    )
    # A plain name, empty for none; roles may be granted on all that lies in a folder.
    folder = models.CharField(max_length=100, blank=True, default="", db_index=True)
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

    def tests_of(self, hash_: str) -> Tests:
        """What the test cases said when they last ran, as far as that was on this graph."""
        said = [(case.name, case.passed_on(hash_)) for case in self.test_cases.defer(*_LARGE)]
        return {
            "passed": sum(passed is True for _, passed in said),
            "failed": [name for name, passed in said if passed is False],
            "not_run": sum(passed is None for _, passed in said),
        }


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


class TestCase(models.Model):
    """Rows for the sources of a pipeline, and the rows that must come out of some of its steps."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    pipeline = models.ForeignKey(Pipeline, models.CASCADE, related_name="test_cases")
    name = models.CharField(max_length=200)
    # By source, in the form that a rehearsal takes.
    rows = models.JSONField()
    # By step. Steps that are not named are not compared.
    expected = models.JSONField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    # What came of it when it last ran as it is now; None where it has not.
    last_passed = models.BooleanField(null=True)
    last_at = models.DateTimeField(null=True)
    last_hash = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("name", "id")
        constraints = (
            models.UniqueConstraint(fields=("pipeline", "name"), name="one_test_case_per_name"),
        )

    def __str__(self) -> str:
        return self.name

    def passed_on(self, hash_: str) -> bool | None:
        """Whether it passed on the graph of this hash; None where it last ran on another."""
        return self.last_passed if self.last_hash == hash_ else None


def empty_graph() -> dict[str, Any]:
    return {"version": 1, "steps": [], "edges": []}
