"""What a Kafka cluster says about one topic: partitions, settings, consumer groups."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import ConfigResource, ResourceType

from builder.connections import kafka
from builder.connections.kafka import Cluster, NoSuchTopic, trouble
from builder.connections.records import Place, Span, spans_of
from runner.kafka_admin import LoginRefused, NotTrusted

# How many consumer groups are asked where they are.
MOST_GROUPS = 200
_NUMBERS = {
    "retention_ms": "retention.ms",
    "retention_bytes": "retention.bytes",
    "max_message_bytes": "max.message.bytes",
}


@dataclass(frozen=True)
class Partition:
    """A partition, who keeps it, and which offsets it has: from `begin` on, before `end`."""

    partition: int
    leader: str | None
    replicas: list[int]
    in_sync: list[int]
    begin: int
    end: int


@dataclass(frozen=True)
class Group:
    """A consumer group and where it is. `lag` counts the records it has still to read."""

    group: str
    state: str
    lag: int
    partitions: list[dict[str, int]]


def partitions_of(cluster: Cluster, topic: str) -> list[Partition]:
    """The partitions of a topic. Raises NoSuchTopic or Unreachable."""
    try:
        metadata = kafka.admin(cluster).metadata(kafka.TIMEOUT)
    except (LoginRefused, NotTrusted, KafkaException) as error:
        raise trouble(cluster, error) from None
    found = metadata.topics.get(topic)
    if found is None or found.error is not None:
        raise NoSuchTopic(f"There is no topic {topic}.")
    spans = spans_of(cluster, [topic])
    brokers = {id_: f"{broker.host}:{broker.port}" for id_, broker in metadata.brokers.items()}
    return [
        Partition(
            number,
            brokers.get(about.leader),
            list(about.replicas),
            list(about.isrs),
            *spans.get(Place(topic, number), Span(0, 0)),
        )
        for number, about in sorted(found.partitions.items())
    ]


def settings_of(cluster: Cluster, topic: str) -> dict[str, Any] | None:
    """How long and how much a topic keeps, in milliseconds and bytes (-1: without end).

    None where the cluster does not tell us. Raises Unreachable.
    """
    resource = ConfigResource(ResourceType.TOPIC, topic)
    asked = kafka.admin(cluster)
    (answer,) = asked.describe_configs([resource], request_timeout=kafka.TIMEOUT).values()
    try:
        found = answer.result(timeout=kafka.TIMEOUT + 1)
    except KafkaException:
        return None
    said: dict[str, Any] = {"cleanup_policy": found["cleanup.policy"].value}
    for name, key in _NUMBERS.items():
        with suppress(KeyError, TypeError, ValueError):
            said[name] = int(found[key].value)
    return said


def groups_of(cluster: Cluster, spans: Mapping[Place, Span]) -> tuple[list[Group], int]:
    """The consumer groups that have read of a topic with these spans, those behind most first.

    Also how many groups were not asked, where there are more than MOST_GROUPS. Raises
    Unreachable.
    """
    asked = kafka.admin(cluster)
    try:
        listed = asked.list_consumer_groups(request_timeout=kafka.TIMEOUT).result(
            timeout=kafka.TIMEOUT + 1
        )
    except KafkaException as error:
        raise trouble(cluster, error) from None
    there = sorted(listed.valid, key=lambda listing: str(listing.group_id))
    answers = {
        listing: asked.list_consumer_group_offsets(
            [
                ConsumerGroupTopicPartitions(
                    listing.group_id, [TopicPartition(*place) for place in spans]
                )
            ],
            request_timeout=kafka.TIMEOUT,
        )[listing.group_id]
        for listing in there[:MOST_GROUPS]
    }
    groups = []
    for listing, answer in answers.items():
        # One group may be out of reach, or closed to us, and the others not.
        with suppress(KafkaException):
            partitions = _positions(answer.result(timeout=kafka.TIMEOUT + 1), spans)
            if partitions:
                lag = sum(one["lag"] for one in partitions)
                state = str(listing.state.name).lower()
                groups.append(Group(listing.group_id, state, lag, partitions))
    groups.sort(key=lambda group: (-group.lag, group.group))
    return groups, max(0, len(there) - MOST_GROUPS)


def _positions(answer: Any, spans: Mapping[Place, Span]) -> list[dict[str, int]]:
    """Where a group is in each partition that it has read of."""
    found = []
    for position in answer.topic_partitions:
        span = spans.get(Place(position.topic, position.partition))
        # Without a committed offset it is below zero.
        if span is not None and position.offset >= 0:
            lag = max(0, span.end - max(position.offset, span.begin))
            found.append({"partition": position.partition, "offset": position.offset, "lag": lag})
    return sorted(found, key=lambda one: one["partition"])
