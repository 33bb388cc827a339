"""What people ask of the topics of a connection, and the records that they write to them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from builder.access.activity import record
from builder.access.permissions import require, visible_or_404
from builder.connections import kafka
from builder.connections.kafka_topic import groups_of, partitions_of, settings_of
from builder.connections.models import Connection
from builder.connections.records import (
    Found,
    Place,
    Span,
    TopicRecord,
    as_bytes,
    between,
    cursor,
    newest,
    read_cursor,
    spans_of,
    within,
)
from builder.connections.write_records import Outgoing, most_bytes, write_records
from builder.json_body import read_json
from builder.refused import Refused, unsound
from runner.problems import Problem

Json = dict[str, Any]
# Kafka's own, and what goes between the segments of a pipeline.
_KAFKAS_OWN, _OURS = "__", "headrace."


@dataclass(frozen=True)
class Asked:
    """Which records of a topic somebody wants to see; newest first, at most `limit`.

    `key` is the whole key, `search` some text of key or value. `before` and `after` are
    cursors of an earlier answer: what is older than it, and what has come since.
    """

    limit: int
    key: str | None = None
    search: str = ""
    partition: int | None = None
    offset: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: str | None = None
    after: str | None = None
    # Columns whose values nobody is shown.
    masks: Sequence[str] = ()

    def wants(self, record: TopicRecord) -> bool:
        """Whether a record matches key and search."""
        if self.key is not None and record.key != self.key.encode():
            return False
        return record.mentions(self.search, self.masks)


@dataclass(frozen=True)
class WantedRecord:
    """A record that somebody writes by hand. Without a value it deletes its key."""

    key: str | None
    value: str | None
    headers: Mapping[str, str]
    partition: int | None = None
    encoding: str = "text"
    is_json: bool = False


def describe_topic(user: User, connection_id: UUID, topic: str) -> Json:
    """A topic's partitions and settings. Raises Refused: 404 without it, 502 without a broker."""
    connection = _readable(user, connection_id, topic)
    with _told(connection):
        partitions = partitions_of(connection, topic)
        return {
            "topic": topic,
            "internal": topic.startswith(_OURS),
            "records": sum(p.end - p.begin for p in partitions),
            "partitions": [asdict(partition) for partition in partitions],
            "settings": settings_of(connection, topic),
        }


def list_groups(user: User, connection_id: UUID, topic: str) -> Json:
    """The consumer groups that read a topic, with what they have still to read."""
    connection = _readable(user, connection_id, topic)
    with _told(connection):
        groups, left_out = groups_of(connection, _spans(connection, topic))
    return {"items": [asdict(g) for g in groups], "count": len(groups), "left_out": left_out}


def browse_topic(user: User, connection_id: UUID, topic: str, asked: Asked) -> Json:
    """The newest records of a topic that match, and where to go on: `before` and `after`.

    Raises Refused: 404 without the topic, 422 for cursors of something else, 502.
    """
    connection = _readable(user, connection_id, topic)
    with _told(connection):
        spans = _spans(connection, topic)
        ends = cursor({place: span.end for place, span in spans.items()})
        chosen = _chosen(connection, spans, asked)
        if asked.offset is None:
            found = newest(connection, chosen, asked.limit, asked.wants)
        else:
            found = newest(connection, chosen, 1)
    whole = asked.offset is not None
    return {
        "items": [row.as_json(whole, asked.masks) for row in found.records],
        "scanned": found.scanned,
        "more": found.more,
        "before": found.before if found.more else None,
        "after": ends,
        # Of a live tail: what came faster than it is shown.
        "passed_over": _left(found) if asked.after is not None else 0,
    }


def write_record(user: User, connection_id: UUID, topic: str, wanted: WantedRecord) -> Json:
    """Write one record to a topic, to try something; answers where it stands.

    Raises Refused: 404 without the topic, 409 for topics that only programs write, 422 with
    what is wrong, 502.
    """
    connection = visible_or_404(user, Connection.objects.all(), pk=connection_id)
    require(user, "write records to", Connection)
    _require_topics(connection, topic)
    if topic.startswith(_OURS):
        raise Refused(409, f"{topic} is Headrace's own; a record there would mislead a job.")
    with _told(connection):
        partitions = partitions_of(connection, topic)
        outgoing = _outgoing(topic, wanted, len(partitions))
        limit = most_bytes(connection, topic)
        if outgoing.size > limit:
            raise _wrong("value", f"It is larger than {topic} takes, which is {limit} bytes.")
        (written,) = write_records(connection, [outgoing])
    if written.trouble:
        raise Refused(502, written.trouble)
    where = f"partition {written.partition}, offset {written.offset}"
    record(
        user, "change", connection,
        f"{user} wrote a record to {topic} in {connection.name} ({where})",
    )  # fmt: skip
    return {"topic": topic, "partition": written.partition, "offset": written.offset}


def _readable(user: User, connection_id: UUID, topic: str) -> Connection:
    connection = visible_or_404(user, Connection.objects.all(), pk=connection_id)
    require(user, "read topics of", Connection)
    _require_topics(connection, topic)
    return connection


def _require_topics(connection: Connection, topic: str) -> None:
    if connection.type != Connection.Type.KAFKA:
        raise Refused(409, f"{connection} leads to no Kafka; it has no topics.")
    if topic.startswith(_KAFKAS_OWN):
        raise Refused(404, f"{topic} is Kafka's own; Headrace leaves it alone.")


@contextmanager
def _told(connection: Connection) -> Iterator[None]:
    """Turn what a cluster could not do into a refusal."""
    try:
        yield
    except kafka.NoSuchTopic as error:
        raise Refused(404, str(error)) from None
    except kafka.Unreachable as error:
        detail = f"The connection {connection.name} does not answer. {error}"
        raise Refused(502, detail) from None


def _spans(connection: Connection, topic: str) -> dict[Place, Span]:
    spans = spans_of(connection, [topic])
    if not spans:
        raise kafka.NoSuchTopic(f"There is no topic {topic}.")
    return spans


def _chosen(connection: Connection, spans: Mapping[Place, Span], asked: Asked) -> dict[Place, Span]:
    """The parts of a topic that somebody asks for, by partition, cursors and times."""
    chosen = {
        place: span
        for place, span in spans.items()
        if asked.partition is None or place.partition == asked.partition
    }
    if asked.offset is not None:
        one = dict.fromkeys(chosen, asked.offset)
        return within(chosen, after=one, before=dict.fromkeys(one, asked.offset + 1))
    chosen = between(connection, chosen, asked.since, asked.until)
    before, after = _cursor("before", asked.before), _cursor("after", asked.after)
    return within(chosen, before=before, after=after)


def _cursor(field: str, text: str | None) -> dict[Place, int]:
    try:
        return read_cursor(text or "")
    except ValueError:
        raise _wrong(field, "Give what an earlier answer said here.") from None


def _left(found: Found) -> int:
    return sum(span.end - span.begin for span in found.left.values())


def _outgoing(topic: str, wanted: WantedRecord, partitions: int) -> Outgoing:
    if wanted.partition is not None and wanted.partition >= partitions:
        raise _wrong("partition", f"{topic} has the partitions 0 to {partitions - 1}.")
    if wanted.is_json and wanted.value is not None:
        try:
            read_json(wanted.value)
        except ValueError as error:
            raise _wrong("value", f"It is no JSON: {error}.") from None
    try:
        value = as_bytes(wanted.value, wanted.encoding)
    except ValueError:
        raise _wrong("value", "It is no base64.") from None
    headers = tuple((name, text.encode()) for name, text in wanted.headers.items())
    key = as_bytes(wanted.key, "text")
    return Outgoing(topic, key, value, headers, wanted.partition)


def _wrong(field: str, message: str) -> Refused:
    return unsound([Problem(None, field, message)], "The request")
