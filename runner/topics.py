"""What a job needs of Kafka before it starts: brokers that answer, topics that are there."""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from runner.kafka_admin import Admin, LoginRefused, NotTrusted
from runner.kafka_login import Cluster, client_options
from runner.problems import Problem

Topic = Mapping[str, str]
Connections = Mapping[str, Cluster]

SECONDS = 6
_AWAY = (KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._ALL_BROKERS_DOWN)
_RETENTION = {
    "console": {"retention.ms": "3600000", "segment.bytes": "16777216"},
    "dead_letters": {"retention.ms": "604800000"},
    # Between two segments: a table whole, of a stream what a segment that stood still may miss.
    "table": {"cleanup.policy": "compact", "segment.bytes": "67108864"},
    "stream": {"retention.ms": "604800000", "segment.bytes": "67108864"},
}


@dataclass
class NotReady(Exception):
    """Kafka is not as the job needs it. `topics` are those missing, each with its problem.

    `permanent` where asking again can't help: the credentials are refused.
    """

    message: str
    step: str | None = None
    permanent: bool = False
    topics: list[tuple[Problem, str]] = field(default_factory=list)


def make_ready(
    topics: Iterable[Topic],
    connections: Connections,
    say: Callable[[str], None],
    beside: Callable[[str, str], bool] = lambda step, other: True,
) -> dict[str, int]:
    """Make the missing topics that the job writes; return how many partitions each step reads.

    A new topic gets as many partitions as the topics that are read by a step `beside` its own
    (in the same segment), a console's only one. Raises NotReady where a broker does not answer
    or a topic to be read is missing.
    """
    topics = list(topics)
    read: dict[str, int] = {}
    missing: list[tuple[Problem, str]] = []
    to_make: list[tuple[Admin, Topic]] = []
    received: list[Topic] = []
    there: dict[tuple[str, str], int] = {}
    for name in dict.fromkeys(t["connection"] for t in topics):
        servers = str(connections[name]["bootstrap_servers"])
        admin = Admin(client(connections[name]))
        known = _partitions(admin, name, servers)
        there |= {(name, topic): size for topic, size in known.items()}
        for topic in topics:
            if topic["connection"] != name:
                continue
            step = topic["step"]
            found = _matching(topic, known)
            if topic["use"] == "received":
                received.append(topic)
            elif topic["use"] != "read":
                if not found:
                    to_make.append((admin, topic))
            elif found:
                read[step] = read.get(step, 0) + sum(known[t] for t in found)
            else:
                missing.append(_missing(topic))
    if missing:
        first = missing[0][0]
        raise NotReady(" ".join(p.message for p, _ in missing), first.step, topics=missing)
    sizes: dict[str, int] = {}
    for admin, topic in to_make:
        partitions = max((n for s, n in read.items() if beside(topic["step"], s)), default=-1)
        if topic["use"] == "console":
            # Rows without a key, of which people are to see the newest last.
            partitions = 1
        _make(admin, topic, partitions)
        sizes[topic["topic"]] = partitions
        say(f"Made the topic {topic['topic']}, which was not there.")
    for topic in received:
        known_size = there.get((topic["connection"], topic["topic"]), 0)
        read[topic["step"]] = max(known_size, sizes.get(topic["topic"], 0), 1)
    return read


def delete_internal(topics: Iterable[Topic], connections: Connections, pipeline: str) -> None:
    """Delete a pipeline's own topics between its segments, and wait until they are gone.

    Those that the drawing names are kept: others may read them. Raises NotReady where
    a broker does not answer, or keeps them.
    """
    between: dict[str, list[str]] = {}
    for topic in topics:
        is_own = topic.get("topic", "").startswith(f"headrace.{pipeline}.")
        if topic["use"] == "internal" and is_own:
            between.setdefault(topic["connection"], []).append(topic["topic"])
    for name, named in between.items():
        servers = str(connections[name]["bootstrap_servers"])
        admin = Admin(client(connections[name]))
        known = _partitions(admin, name, servers)
        if there := [topic for topic in named if topic in known]:
            for done in admin.delete_topics(there, operation_timeout=SECONDS).values():
                try:
                    done.result(timeout=SECONDS + 1)
                except KafkaException as error:
                    if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                        message = f"The internal topics can't be deleted: {error.args[0].str()}"
                        raise NotReady(message) from None
        deadline = time.monotonic() + SECONDS
        while set(named) & _partitions(admin, name, servers).keys():
            if time.monotonic() > deadline:
                raise NotReady(f"Kafka at {servers} has not yet deleted the internal topics.")
            time.sleep(0.1)


def client(cluster: Cluster) -> dict[str, Any]:
    """Settings of a Kafka client that leaves it to its caller to speak of trouble."""
    return {**client_options(cluster), "log_level": 0, "topic.metadata.refresh.interval.ms": -1}


def _partitions(admin: Admin, connection: str, servers: str) -> dict[str, int]:
    try:
        metadata = admin.metadata(SECONDS)
    except LoginRefused as error:
        message = f"Kafka at {servers} (connection {connection}) refuses the credentials: {error}"
        raise NotReady(message, permanent=True) from None
    except NotTrusted as error:
        message = f"There is no TLS with Kafka at {servers} (connection {connection}): {error}"
        raise NotReady(message) from None
    except KafkaException:
        message = f"{_no_answer(connection, servers)} The job starts as soon as it does."
        raise NotReady(message) from None
    return {name: len(t.partitions) for name, t in metadata.topics.items() if t.error is None}


def _matching(topic: Topic, known: Mapping[str, int]) -> list[str]:
    if "pattern" in topic:
        pattern = re.compile(topic["pattern"])
        return [name for name in known if pattern.fullmatch(name)]
    return [topic["topic"]] if topic["topic"] in known else []


def _missing(topic: Topic) -> tuple[Problem, str]:
    step, connection = topic["step"], topic["connection"]
    if "pattern" in topic:
        message = f"No topic of connection {connection} matches {topic['pattern']}."
        return Problem(step, "topic_pattern", message), topic["pattern"]
    message = f"Connection {connection} has no topic {topic['topic']}. Make it, or name another."
    return Problem(step, "topics", message), topic["topic"]


def _make(admin: Admin, topic: Topic, partitions: int) -> None:
    new = NewTopic(
        topic["topic"],
        num_partitions=partitions,
        replication_factor=-1,
        config=_RETENTION.get(topic.get("kind") or topic["use"], {}),
    )
    (made,) = admin.create_topics([new], operation_timeout=SECONDS).values()
    try:
        made.result(timeout=SECONDS + 1)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise NotReady(
                f"Topic {topic['topic']} is not there and can't be made: {error.args[0].str()}",
                topic["step"],
            ) from None


class Ends:
    """Asks brokers where topics end."""

    def __init__(self, connections: Connections, topics: Iterable[Topic]) -> None:
        self._servers = {
            t["connection"]: str(connections[t["connection"]]["bootstrap_servers"]) for t in topics
        }
        self._admins = {name: AdminClient(client(connections[name])) for name in self._servers}

    def of(self, partitions: Iterable[tuple[str, int]]) -> dict[str, int]:
        """The offset after the newest record of each partition, by `topic-partition`.

        Raises NotReady while a broker does not answer.
        """
        end = OffsetSpec.latest()  # type: ignore[no-untyped-call]
        wanted = {TopicPartition(topic, n): end for topic, n in partitions}
        found: dict[str, int] = {}
        if not wanted:
            return found
        for name, admin in self._admins.items():
            for partition, answer in admin.list_offsets(wanted, request_timeout=SECONDS).items():
                try:
                    offset = answer.result(timeout=SECONDS + 1).offset
                except KafkaException as error:
                    if error.args[0].code() in _AWAY:
                        offset = -1
                    else:
                        # Of several brokers only one has the topic.
                        continue
                # A request that timed out comes back as a success without an offset.
                if offset < 0:
                    raise NotReady(_no_answer(name, self._servers[name]))
                found[f"{partition.topic}-{partition.partition}"] = offset
        return found


def _no_answer(connection: str, servers: str) -> str:
    return f"Kafka at {servers} (connection {connection}) does not answer."
