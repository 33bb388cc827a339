"""A pipeline's plan as people and programs are told it: what Kafka Streams calls its topology."""

from collections.abc import Iterable, Mapping
from typing import Any

from builder.connections.kafka import Unreachable, topic_partitions
from builder.connections.models import Connection
from runner.compile import Job
from runner.slots import slots
from runner.steps.internal_topic import FromTopic, ToTopic


def planned(job: Job) -> dict[str, Any]:
    """The segments of a job with their internal topics, checkpoints and slots, and its topics."""
    known = partitions_of(job.topics, {row.name: row for row in Connection.objects.all()})
    partitions = None if known is None else partitions_read(job.topics, known)
    segments = []
    for segment in job.segments:
        ends = [job.plan.graph.by_id[id_].parsed for id_ in segment.steps]
        segments.append(
            {
                **segment.as_json(),
                "checkpoint": segment.checkpoint,
                "reads": [e.topic_of(job.name) for e in ends if isinstance(e, FromTopic)],
                "writes": [e.topic_of(job.name) for e in ends if isinstance(e, ToTopic)],
                "loads": segment.loads,
                "slots": None if partitions is None else slots(segment.as_json(), partitions),
            }
        )
    topics = [t for t in job.topics if t["use"] != "received"]
    return {"segments": segments, "topics": topics}


def partitions_of(
    topics: Iterable[Mapping[str, str]], connections: Mapping[str, Connection]
) -> dict[str, dict[str, int]] | None:
    """The topics of each connection with their partitions, None while a broker is away."""
    try:
        return {
            name: topic_partitions(connections[name])
            for name in {topic["connection"] for topic in topics}
        }
    except Unreachable:
        return None


def partitions_read(
    topics: Iterable[Mapping[str, str]], known: Mapping[str, Mapping[str, int]]
) -> dict[str, int]:
    """How many partitions each step reads, of the topics that each connection has.

    A topic that is not there yet will have as many as the most that is read.
    """
    found: dict[str, int] = {}
    for topic in topics:
        if topic["use"] in ("read", "received") and "topic" in topic:
            there = known[topic["connection"]].get(topic["topic"], 0)
            found[topic["step"]] = found.get(topic["step"], 0) + there
    most = max(found.values(), default=1)
    return {step: count or most for step, count in found.items()}
