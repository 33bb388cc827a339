"""Which pipelines read or write a topic, drawn or deployed."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from django.contrib.auth.models import User

from builder.access.permissions import visible
from builder.connections.models import Connection
from builder.deployments.models import Deployment
from builder.environments.models import meant_by
from builder.pipelines.models import Pipeline

Use = Literal["read", "write", "dead_letters", "console", "internal"]


@dataclass(frozen=True)
class TopicUse:
    """A step that uses a topic. `lag` is what a job that reads it has still to read, if known."""

    pipeline: UUID
    name: str
    step: str
    use: Use
    deployment: UUID | None = None
    environment: str | None = None
    state: str | None = None
    lag: int | None = None


def uses_of_topic(user: User, connection: Connection, topic: str) -> list[TopicUse]:
    """The steps that use a topic, of the pipelines that the user may see: deployed ones first.

    A draft is told of where none of its deployments says the same.
    """
    deployed = list(_deployed(user, connection, topic))
    known = {(use.pipeline, use.step, use.use) for use in deployed}
    drawn = [u for u in _drawn(user, connection, topic) if (u.pipeline, u.step, u.use) not in known]
    return deployed + drawn


def _deployed(user: User, connection: Connection, topic: str) -> Iterator[TopicUse]:
    meant: dict[str, dict[str, str]] = {}
    rows = visible(user, Deployment.objects.select_related("pipeline"))
    for deployment in rows.defer("script", "graph", "conf", "samples"):
        names = meant.setdefault(deployment.environment, meant_by(deployment.environment))
        for about in deployment.topics:
            if names.get(about["connection"]) != connection.name or not _is_named(about, topic):
                continue
            use: Use = "read" if about["use"] == "received" else about["use"]
            yield TopicUse(
                deployment.pipeline_id, deployment.pipeline.name, about["step"], use, deployment.pk,
                deployment.environment, deployment.state,
                _lag(deployment.metrics, topic) if use == "read" else None,
            )  # fmt: skip


def _drawn(user: User, connection: Connection, topic: str) -> Iterator[TopicUse]:
    for pipeline in visible(user, Pipeline.objects.only("id", "name", "graph")).iterator():
        for step in pipeline.graph.get("steps", []):
            config = step.get("config") or {}
            if config.get("connection") != connection.name:
                continue
            if config.get("topic") == topic:
                yield TopicUse(pipeline.pk, pipeline.name, str(step.get("id")), "write")
            named, pattern = config.get("topics"), config.get("topic_pattern")
            # A draft may say anything.
            is_read = isinstance(named, list) and topic in named
            if is_read or (pattern and _is_named({"pattern": pattern}, topic)):
                yield TopicUse(pipeline.pk, pipeline.name, str(step.get("id")), "read")


def _is_named(about: Mapping[str, Any], topic: str) -> bool:
    if "pattern" in about:
        with suppress(re.error, TypeError):
            return re.fullmatch(about["pattern"], topic) is not None
        return False
    return about.get("topic") == topic


def _lag(metrics: Mapping[str, Any] | None, topic: str) -> int | None:
    """What is left to read of a topic, by the segment that is furthest behind."""
    found = [
        [
            lag
            for name, lag in (segment.get("lag") or {}).items()
            if name.rpartition("-")[0] == topic and lag is not None
        ]
        for segment in (metrics or {}).get("segments", {}).values()
    ]
    return max((sum(lags) for lags in found if lags), default=None)
