"""What a Kafka cluster says about itself: is it there, its topics, their newest rows."""

import time
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from confluent_kafka import (
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)
from confluent_kafka.admin import NewTopic

from builder.connections.addresses import read_addresses, resolve
from builder.connections.models import Connection
from builder.connections.reach import Step, addressed, knocked, looked_up, tls
from builder.connections.sealed import NotReadable
from runner.kafka_admin import Admin, LoginRefused, NotTrusted
from runner.kafka_login import client_options

# The addresses of one without security, or a connection.
Cluster = str | Connection

TIMEOUT = 5.0
# Of the records that are read at once.
MAX_BYTES = 8 * 1024**2


class Unreachable(Exception):
    """The cluster does not answer; the message says so to people."""


class NotLetIn(Unreachable):
    """The cluster refuses our credentials, and will do so again."""


class TopicExists(Exception):
    """There is such a topic already."""


class NoSuchTopic(Exception):
    """There is no such topic."""


class NotMade(Exception):
    """The cluster refused to make a topic; the message says why."""


def test_steps(described: Mapping[str, Any]) -> Iterator[Step]:
    """Try a cluster step by step; a step that fails is the last one."""
    addresses = yield from addressed(described["bootstrap_servers"])
    yield from looked_up(addresses)
    reached = yield from knocked(addresses)
    protocol = described.get("security_protocol", "PLAINTEXT")
    if protocol.endswith("SSL"):
        yield tls(*reached[0], authority=described.get("ca_certificate"))
    try:
        metadata = Admin(_settings(described)).metadata(TIMEOUT)
    except LoginRefused as error:
        yield Step("Credentials", False, f"The cluster refuses who we say we are. {error}")
        return
    except NotTrusted as error:
        yield Step("TLS", False, str(error))
        return
    except KafkaException:
        yield Step("Kafka", False, "Something answers there, but it does not speak Kafka as we do.")
        return
    if protocol.startswith("SASL_"):
        yield Step("Credentials", True, f"{described['username']} is let in.")
    brokers = len(metadata.brokers)
    yield Step("Kafka", True, f"{brokers} broker{'s' if brokers != 1 else ''} answer.")
    count = sum(not name.startswith("__") for name in metadata.topics)
    yield Step("Topics", True, f"{count} topic{'s' if count != 1 else ''} can be seen.")


def topic_partitions(cluster: Cluster, timeout: float | None = None) -> dict[str, int]:
    """How many partitions each topic has, Kafka's own left out.

    Raises Unreachable, or NotLetIn where it is of no use to ask again.
    """
    try:
        metadata = admin(cluster).metadata(timeout or TIMEOUT)
    except (LoginRefused, NotTrusted, KafkaException) as error:
        raise trouble(cluster, error) from None
    return {
        name: len(topic.partitions)
        for name, topic in sorted(metadata.topics.items())
        if topic.error is None and not name.startswith("__")
    }


def create_topic(cluster: Cluster, topic: str, partitions: int) -> None:
    """Make a topic and wait until it stands. Raises TopicExists, NotMade or Unreachable."""
    asked = admin(cluster)
    made = asked.create_topics(
        [NewTopic(topic, num_partitions=partitions)], request_timeout=TIMEOUT
    )
    try:
        made[topic].result(timeout=TIMEOUT + 1)
    except KafkaException as error:
        reason: KafkaError = error.args[0]
        if reason.code() == KafkaError.TOPIC_ALREADY_EXISTS:
            raise TopicExists(f"There is a topic {topic} already.") from None
        if reason.code() in (
            KafkaError._TIMED_OUT,
            KafkaError._TRANSPORT,
            KafkaError._ALL_BROKERS_DOWN,
        ):
            raise trouble(cluster, error) from None
        raise NotMade(f"The cluster did not make {topic}: {reason.str()}.") from None


def delete_topics(cluster: Cluster, prefix: str) -> list[str]:
    """Delete the topics whose names begin so; their names. Raises Unreachable."""
    names = [name for name in topic_partitions(cluster) if name.startswith(prefix)]
    if not names:
        return []
    # Kept until the answers are there: without it they never come.
    asked = admin(cluster)
    deleted = asked.delete_topics(names, request_timeout=TIMEOUT)
    gone = []
    for name, done in deleted.items():
        try:
            done.result(timeout=TIMEOUT + 1)
            gone.append(name)
        except KafkaException as error:
            reason: KafkaError = error.args[0]
            if reason.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise Unreachable(f"{name} can't be deleted: {reason.str()}.") from None
    return gone


@dataclass(frozen=True)
class Record:
    """What stands in a topic. A value of None is a deletion."""

    partition: int
    offset: int
    timestamp: str | None
    key: str | None
    value: str | None


def read_records(
    cluster: Cluster, topic: str, limit: int, since: datetime | None = None
) -> list[Record]:
    """Some records of a topic, oldest first; reading leaves no trace in the cluster.

    They are the newest `limit`, or with `since` the first `limit` from that time on; fewer
    where they would be larger than MAX_BYTES. Raises NoSuchTopic or Unreachable.
    """
    # The client wants a group's name; without commits no such group comes to be.
    consumer = Consumer(
        {
            **client_settings(cluster),
            "group.id": f"headrace-sample-{uuid.uuid4()}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 50,
        }
    )
    try:
        messages = _consumed(consumer, _starts(consumer, topic, limit, since), limit, since)
    except KafkaException as error:
        raise trouble(cluster, error) from None
    finally:
        consumer.close()
    messages.sort(key=lambda m: (m.timestamp()[1], m.partition() or 0, m.offset() or 0))
    if since is not None:
        return [_record(m) for m in _within(messages[:limit])]
    return [_record(m) for m in reversed(_within(messages[::-1][:limit]))]


def _starts(
    consumer: Consumer, topic: str, limit: int, since: datetime | None
) -> list[TopicPartition]:
    """Where to begin in each partition that has something to read."""
    metadata = consumer.list_topics(topic, timeout=TIMEOUT).topics[topic]
    if metadata.error is not None:
        raise NoSuchTopic(f"There is no topic {topic}.")
    partitions = list(metadata.partitions)
    if since is not None:
        moment = max(0, int(since.timestamp() * 1000))
        asked = [TopicPartition(topic, partition, moment) for partition in partitions]
        found = consumer.offsets_for_times(asked, timeout=TIMEOUT)
        return [start for start in found if start.offset >= 0]
    starts = []
    for partition in partitions:
        first, end = consumer.get_watermark_offsets(
            TopicPartition(topic, partition), timeout=TIMEOUT
        )
        if end > first:
            starts.append(TopicPartition(topic, partition, max(first, end - limit)))
    return starts


def _consumed(
    consumer: Consumer, starts: list[TopicPartition], limit: int, since: datetime | None
) -> list[Message]:
    """From each partition what stands there now, or with `since` the first `limit`."""
    if not starts:
        return []
    consumer.assign(starts)
    expected = {start.partition for start in starts}
    moment = None if since is None else since.timestamp() * 1000
    taken: dict[int, int] = defaultdict(int)
    messages: list[Message] = []
    deadline = time.monotonic() + TIMEOUT
    while expected and (left := deadline - time.monotonic()) > 0:
        message = consumer.poll(left)
        if message is None:
            break
        error, partition = message.error(), message.partition()
        if error is not None:
            if error.code() != KafkaError._PARTITION_EOF:
                raise KafkaException(error)
            expected.discard(partition)
        # Times needn't grow with offsets.
        elif partition in expected and (moment is None or message.timestamp()[1] >= moment):
            messages.append(message)
            taken[partition] += 1
            if moment is not None and taken[partition] == limit:
                expected.discard(partition)
                consumer.pause([start for start in starts if start.partition == partition])
    return messages


def _within(messages: list[Message]) -> list[Message]:
    """The first of the messages, as many as MAX_BYTES hold and at least one."""
    kept: list[Message] = []
    size = 0
    for message in messages:
        size += len(message.value() or b"") + len(message.key() or b"")
        if kept and size > MAX_BYTES:
            break
        kept.append(message)
    return kept


def _described(cluster: Cluster) -> Mapping[str, Any]:
    if isinstance(cluster, str):
        return {"bootstrap_servers": cluster}
    if cluster.type != Connection.Type.KAFKA:
        raise Unreachable(f"{cluster} leads to no Kafka.")
    try:
        return cluster.with_secrets()
    except NotReadable as error:
        raise Unreachable(f"Its secrets can't be read. {error} Enter them again.") from None


def _settings(described: Mapping[str, Any]) -> dict[str, Any]:
    try:
        for host, port in read_addresses(described["bootstrap_servers"]):
            # A name may lead elsewhere than when it was written; without an address, nowhere.
            with suppress(OSError):
                resolve(host, port)
    except ValueError as error:
        raise Unreachable(str(error)) from None
    # Whoever asks gets the error; librdkafka needn't print it, too.
    return {**client_options(described), "log_level": 0, "socket.timeout.ms": 5000}


def client_settings(cluster: Cluster) -> dict[str, Any]:
    """The settings of a client of the cluster; secrets are among them. Raises Unreachable."""
    return _settings(_described(cluster))


def admin(cluster: Cluster) -> Admin:
    """A client that asks the cluster about itself. Raises Unreachable."""
    return Admin(client_settings(cluster))


def trouble(cluster: Cluster, error: Exception) -> Unreachable:
    """Why a cluster gives no answer, as its asker is told it; `error` is what a client raised."""
    servers = cluster if isinstance(cluster, str) else cluster.bootstrap_servers
    if isinstance(error, LoginRefused):
        return NotLetIn(f"Kafka at {servers} refuses the credentials. {error}")
    if isinstance(error, NotTrusted):
        return Unreachable(f"There is no TLS with Kafka at {servers}. {error}")
    return Unreachable(f"No broker answers at {servers}.")


def _record(message: Message) -> Record:
    kind, milliseconds = message.timestamp()
    at = None
    if kind != TIMESTAMP_NOT_AVAILABLE:
        at = datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
        # As times stand in the rows of every step.
        at = at.replace("+00:00", "Z")
    return Record(
        message.partition() or 0,
        message.offset() or 0,
        at,
        _text(message.key()),
        _text(message.value()),
    )


def _text(value: bytes | str | None) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return value.decode(errors="replace").replace("\0", "\ufffd")
