"""What a Kafka cluster says about itself: is it there, its topics, their newest rows."""

import json
import re
import socket
import time
import uuid
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
from confluent_kafka.admin import AdminClient, NewTopic

from builder.connections.addresses import is_forbidden, read_addresses

TIMEOUT = 5.0
MAX_VALUE = 10_000


class Unreachable(Exception):
    """The cluster does not answer; the message says so to people."""


class TopicExists(Exception):
    """There is such a topic already."""


class NoSuchTopic(Exception):
    """There is no such topic."""


class NotMade(Exception):
    """The cluster refused to make a topic; the message says why."""


def test_steps(bootstrap_servers: str) -> list[dict[str, Any]]:
    """Try a cluster step by step; the first step that fails is the last one told."""
    steps: list[dict[str, Any]] = []

    def tell(name: str, ok: bool, message: str) -> bool:
        steps.append({"name": name, "ok": ok, "message": message})
        return ok

    try:
        addresses = read_addresses(bootstrap_servers)
    except ValueError as error:
        tell("Address", False, str(error))
        return steps
    tell("Address", True, f"{len(addresses)} address{'es' if len(addresses) > 1 else ''} to try.")

    found: dict[tuple[str, int], Any] = {}
    for host, port in addresses:
        try:
            found[host, port] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4]
        except OSError as error:
            tell("Name", False, f"{host} has no address: {error.strerror or error}.")
            return steps
        if is_forbidden(found[host, port][0]):
            tell("Name", False, f"{host} is no place for a broker.")
            return steps
    tell("Name", True, ", ".join(f"{host} is {a[0]}" for (host, _), a in found.items()) + ".")

    reached = []
    refusals = []
    for host, port in addresses:
        try:
            with socket.create_connection((host, port), timeout=TIMEOUT):
                reached.append(f"{host}:{port}")
        except OSError as error:
            refusals.append(f"{host}:{port} does not accept connections: {error.strerror or error}")
    if not tell(
        "Connection", bool(reached), "; ".join([f"{r} accepts" for r in reached] + refusals) + "."
    ):
        return steps

    try:
        metadata = _admin(bootstrap_servers).list_topics(timeout=TIMEOUT)
    except KafkaException:
        tell("Kafka", False, "Something answers there, but it does not speak Kafka as we do.")
        return steps
    brokers = len(metadata.brokers)
    tell("Kafka", True, f"{brokers} broker{'s' if brokers != 1 else ''} answer.")
    count = sum(not name.startswith("__") for name in metadata.topics)
    tell("Topics", True, f"{count} topic{'s' if count != 1 else ''} can be seen.")
    return steps


def topic_partitions(bootstrap_servers: str, timeout: float | None = None) -> dict[str, int]:
    """How many partitions each topic has, Kafka's own left out. Raises Unreachable."""
    try:
        metadata = _admin(bootstrap_servers).list_topics(timeout=timeout or TIMEOUT)
    except KafkaException:
        raise Unreachable(f"No broker answers at {bootstrap_servers}.") from None
    return {
        name: len(topic.partitions)
        for name, topic in sorted(metadata.topics.items())
        if topic.error is None and not name.startswith("__")
    }


def create_topic(bootstrap_servers: str, topic: str, partitions: int) -> None:
    """Make a topic and wait until it stands. Raises TopicExists, NotMade or Unreachable."""
    admin = _admin(bootstrap_servers)
    made = admin.create_topics(
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
            raise Unreachable(f"No broker answers at {bootstrap_servers}.") from None
        raise NotMade(f"The cluster did not make {topic}: {reason.str()}.") from None


def delete_topics(bootstrap_servers: str, prefix: str) -> list[str]:
    """Delete the topics whose names begin so; their names. Raises Unreachable."""
    names = [name for name in topic_partitions(bootstrap_servers) if name.startswith(prefix)]
    if not names:
        return []
    # Kept until the answers are there: without it they never come.
    admin = _admin(bootstrap_servers)
    deleted = admin.delete_topics(names, request_timeout=TIMEOUT)
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


def newest_rows(bootstrap_servers: str, topic: str, limit: int) -> list[dict[str, Any]]:
    """The newest `limit` records of a topic, newest last. Raises NoSuchTopic or Unreachable.

    A row has `_partition`, `_offset`, `_timestamp`, `_key` and `_value` (text, None for a
    deletion); reading leaves no trace in the cluster.
    """
    # The client wants a group's name; without commits no such group comes to be.
    consumer = Consumer(
        {
            **_settings(bootstrap_servers),
            "group.id": f"headrace-sample-{uuid.uuid4()}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 50,
        }
    )
    try:
        metadata = consumer.list_topics(topic, timeout=TIMEOUT).topics[topic]
        if metadata.error is not None:
            raise NoSuchTopic(f"There is no topic {topic}.")
        starts, expected = [], set()
        for partition in metadata.partitions:
            first, end = consumer.get_watermark_offsets(
                TopicPartition(topic, partition), timeout=TIMEOUT
            )
            if end > first:
                starts.append(TopicPartition(topic, partition, max(first, end - limit)))
                expected.add(partition)
        messages: list[Message] = []
        if starts:
            consumer.assign(starts)
        deadline = time.monotonic() + TIMEOUT
        while expected and (left := deadline - time.monotonic()) > 0:
            message = consumer.poll(left)
            if message is None:
                break
            error = message.error()
            if error is None:
                messages.append(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                expected.discard(message.partition())
            else:
                raise KafkaException(error)
    except KafkaException:
        raise Unreachable(f"No broker answers at {bootstrap_servers}.") from None
    finally:
        consumer.close()
    messages.sort(key=lambda m: (m.timestamp()[1], m.partition() or 0, m.offset() or 0))
    return [_row(message) for message in messages[-limit:]]


def inferred(rows: list[dict[str, Any]]) -> tuple[str, list[dict[str, str]]]:
    """Which format the rows' values are in (`json` or `text`), and their columns' Spark types."""
    values = [_json_object(row["_value"]) for row in rows if row["_value"] is not None]
    if not values or any(value is None for value in values):
        return "text", [{"name": "value", "type": "string"}]
    return "json", [
        {"name": name, "type": spark_type}
        for name, spark_type in _fields([v for v in values if v is not None]).items()
    ]


def _settings(bootstrap_servers: str) -> dict[str, Any]:
    # Whoever asks gets the error; librdkafka needn't print it, too.
    return {"bootstrap.servers": bootstrap_servers, "log_level": 0, "socket.timeout.ms": 5000}


def _admin(bootstrap_servers: str) -> AdminClient:
    return AdminClient(_settings(bootstrap_servers))


def _row(message: Message) -> dict[str, Any]:
    kind, milliseconds = message.timestamp()
    at = None
    if kind != TIMESTAMP_NOT_AVAILABLE:
        at = datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()
    return {
        "_partition": message.partition(),
        "_offset": message.offset(),
        "_timestamp": at,
        "_key": _text(message.key()),
        "_value": _text(message.value()),
    }


def _text(value: bytes | str | None) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return value[:MAX_VALUE].decode(errors="replace").replace("\0", "\ufffd")


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def _fields(values: list[dict[str, Any]]) -> dict[str, str]:
    seen: dict[str, list[Any]] = {}
    for value in values:
        for name, item in value.items():
            seen.setdefault(name, []).append(item)
    return {name: _spark_type(items) for name, items in seen.items()}


def _spark_type(items: list[Any]) -> str:
    """The narrowest Spark type that holds all the items; text where there is none."""
    items = [item for item in items if item is not None]
    if not items:
        return "string"
    if all(isinstance(item, bool) for item in items):
        return "boolean"
    if any(isinstance(item, bool) for item in items):
        return "string"
    if all(isinstance(item, int) for item in items):
        return "bigint"
    if all(isinstance(item, int | float) for item in items):
        return "double"
    if all(isinstance(item, str) for item in items):
        if all(_TIMESTAMP.fullmatch(item) for item in items):
            return "timestamp"
        return "date" if all(_DATE.fullmatch(item) for item in items) else "string"
    if all(isinstance(item, list) for item in items):
        return f"array<{_spark_type([part for item in items for part in item])}>"
    if all(isinstance(item, dict) for item in items):
        fields = _fields(items)
        if fields and all(re.fullmatch(r"\w+", name) for name in fields):
            return f"struct<{','.join(f'{n}:{t}' for n, t in fields.items())}>"
        return "map<string,string>"
    return "string"
