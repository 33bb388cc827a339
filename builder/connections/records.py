"""Records of topics as they stand there, newest first, however many there are."""

import base64
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from confluent_kafka import (
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)
from confluent_kafka.admin import OffsetSpec

from builder.connections import kafka
from builder.connections.kafka import Cluster, Unreachable, client_settings, trouble
from runner.kafka_admin import LoginRefused, NotTrusted
from runner.mask import masked_text

Headers = tuple[tuple[str, bytes | None], ...]

# How many records one question looks at, and how many bytes of them it keeps.
MOST_SCANNED = 20_000
MAX_BYTES = 8 * 1024**2
# How much of a key, a value or a header is shown in a list.
SHOWN = 10_000
# How many offsets are read at once where records stand close together.
MOST_AT_ONCE = 5_000
_WORTH_READING = 500
# So it is for a moment after a topic was made, and while a broker restarts.
_NO_LEADER = (
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
)


class Place(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int


class Span(NamedTuple):
    """Offsets of a partition: from `begin` on, before `end`."""

    begin: int
    end: int


@dataclass(frozen=True)
class TopicRecord:
    """A record as Kafka has it. `milliseconds` is its time since 1970, None without one."""

    place: Place
    offset: int
    milliseconds: int | None
    key: bytes | None
    value: bytes | None
    headers: Headers

    @property
    def at(self) -> str | None:
        """Its time as ISO 8601, in UTC."""
        if self.milliseconds is None:
            return None
        moment = datetime.fromtimestamp(self.milliseconds / 1000, UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    @property
    def size(self) -> int:
        """Bytes of its key, value and headers."""
        named = sum(len(name) + len(value or b"") for name, value in self.headers)
        return len(self.key or b"") + len(self.value or b"") + named

    def mentions(self, text: str, masks: Sequence[str] = ()) -> bool:
        """Whether its key or value has this text in it where it is shown, in any case."""
        if not text:
            return True
        wanted = text.lower()
        parts = (part.decode(errors="replace") for part in (self.key, self.value) if part)
        return any(wanted in masked_text(part, masks).lower() for part in parts)

    def as_json(self, whole: bool = False, masks: Sequence[str] = ()) -> dict[str, Any]:
        """The record for people and programs, without the values of masked columns.

        Unless `whole`, long parts are cut.
        """
        most = None if whole else SHOWN
        key, value = as_text(self.key, most, masks), as_text(self.value, most, masks)
        headers = [(name, as_text(given, most)) for name, given in self.headers]
        return {
            "partition": self.place.partition,
            "offset": self.offset,
            "at": self.at,
            "key": key.text,
            "key_encoding": key.encoding,
            "value": value.text,
            "value_encoding": value.encoding,
            "headers": [
                {"name": name, "value": text.text, "encoding": text.encoding}
                for name, text in headers
            ],
            "size": self.size,
            "cut": any(text.cut for text in (key, value, *(text for _, text in headers))),
            "masked": key.masked or value.masked,
        }


class Text(NamedTuple):
    """Bytes as JSON can say them: text where they are UTF-8, else base64."""

    text: str | None
    encoding: str
    cut: bool = False
    masked: bool = False


def as_text(data: bytes | None, most: int | None = None, masks: Sequence[str] = ()) -> Text:
    """Bytes as JSON can say them, no more than about the first `most`, fields masked."""
    if data is None:
        return Text(None, "text")
    cut = most is not None and len(data) > most
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return Text(base64.b64encode(data[:most]).decode(), "base64", cut)
    shown = masked_text(text, masks)
    begin = shown.encode()[:most].decode(errors="ignore") if cut else shown
    return Text(begin, "text", cut, shown != text)


def as_bytes(text: str | None, encoding: str) -> bytes | None:
    """What `as_text` was given. Raises ValueError where it is no base64, or no text."""
    if text is None:
        return None
    if encoding == "base64":
        return base64.b64decode(text, validate=True)
    return text.encode()


@dataclass(frozen=True)
class Found:
    """Records, newest first. `left` are the spans below them that were not looked at."""

    records: list[TopicRecord]
    scanned: int
    left: dict[Place, Span]

    @property
    def more(self) -> bool:
        """Whether there may be older ones."""
        return any(span.end > span.begin for span in self.left.values())

    @property
    def before(self) -> str:
        """Where they end, to go on from."""
        return cursor({place: span.end for place, span in self.left.items()})


def cursor(offsets: Mapping[Place, int]) -> str:
    """Offsets of partitions as one text."""
    return ",".join(f"{p.topic}:{p.partition}:{offset}" for p, offset in sorted(offsets.items()))


def read_cursor(text: str) -> dict[Place, int]:
    """What `cursor` wrote. Raises ValueError."""
    found = {}
    for part in text.split(",") if text else []:
        topic, partition, offset = part.split(":")
        found[Place(topic, int(partition))] = int(offset)
    return found


def spans_of(cluster: Cluster, topics: Iterable[str]) -> dict[Place, Span]:
    """Where the records of topics begin and end now; topics that are not there are left out.

    Raises Unreachable.
    """
    try:
        asked = kafka.admin(cluster)
        known = asked.metadata(kafka.TIMEOUT).topics
    except (LoginRefused, NotTrusted, KafkaException) as error:
        raise trouble(cluster, error) from None
    places = [
        Place(topic, partition)
        for topic in dict.fromkeys(topics)
        if topic in known and known[topic].error is None
        for partition in known[topic].partitions
    ]
    begins = _offsets(cluster, asked, places, OffsetSpec.earliest())  # type: ignore[no-untyped-call]
    ends = _offsets(cluster, asked, places, OffsetSpec.latest())  # type: ignore[no-untyped-call]
    return {place: Span(begins[place], ends[place]) for place in places}


def within(
    spans: Mapping[Place, Span],
    *,
    before: Mapping[Place, int] | None = None,
    after: Mapping[Place, int] | None = None,
) -> dict[Place, Span]:
    """The parts of the spans before and from these offsets on."""
    found = {}
    for place, (begin, end) in spans.items():
        end = min(end, (before or {}).get(place, end))
        begin = max(begin, (after or {}).get(place, begin))
        found[place] = Span(begin, max(begin, end))
    return found


def between(
    cluster: Cluster,
    spans: Mapping[Place, Span],
    since: datetime | None = None,
    until: datetime | None = None,
) -> dict[Place, Span]:
    """The parts of the spans from a time on and before another. Raises Unreachable."""
    if not spans or (since is None and until is None):
        return dict(spans)
    with closing(_consumer(cluster)) as consumer:
        first = {} if since is None else _at_time(cluster, consumer, spans, since)
        last = {} if until is None else _at_time(cluster, consumer, spans, until)
    return within(spans, before=last, after=first)


def newest(
    cluster: Cluster,
    spans: Mapping[Place, Span],
    limit: int,
    wanted: Callable[[TopicRecord], bool] = lambda record: True,
    most_bytes: int = MAX_BYTES,
) -> Found:
    """The newest records of the spans that are wanted; reading leaves no trace in the cluster.

    Newest by offset within a partition, by time between partitions. It looks at no more than
    MOST_SCANNED records and `most_bytes`, and for no longer than kafka.TIMEOUT, so a page may be
    short while `more` is true. Raises Unreachable.
    """
    records: list[TopicRecord] = []
    scanned = size = 0
    if all(span.begin >= span.end for span in spans.values()):
        return Found([], 0, dict(spans))
    try:
        with closing(_consumer(cluster)) as consumer:
            rows = _Backwards(consumer, spans, at_once=limit)
            for record in rows:
                scanned += 1
                if wanted(record):
                    records.append(record)
                    size += record.size
                if len(records) == limit or scanned == MOST_SCANNED or size > most_bytes:
                    break
    except KafkaException as error:
        raise trouble(cluster, error) from None
    if scanned == 0 and rows.is_late:
        raise Unreachable("The cluster took too long to give its records.")
    return Found(records, scanned, rows.left)


def oldest(cluster: Cluster, spans: Mapping[Place, Span], limit: int) -> Found:
    """The first records of the spans, about `limit` of them at most; `left` are those behind.

    Raises Unreachable.
    """
    there = [span for span in spans.values() if span.begin < span.end]
    each = max(1, limit // max(1, len(there)))
    while True:
        low = {place: Span(b, min(end, b + each)) for place, (b, end) in spans.items()}
        most = MAX_BYTES if each > 1 else sys.maxsize
        found = newest(cluster, low, limit + len(spans), most_bytes=most)
        if not found.more:
            left = {place: Span(low[place].end, span.end) for place, span in spans.items()}
            return Found(found.records[::-1], found.scanned, left)
        if each == 1:
            raise Unreachable("The cluster took too long to give its records.")
        each //= 2


def records_at(cluster: Cluster, wanted: Mapping[Place, Iterable[int]]) -> list[TopicRecord]:
    """The records at these offsets, those that are there. Raises Unreachable."""
    records: list[TopicRecord] = []
    deadline = time.monotonic() + 4 * kafka.TIMEOUT
    try:
        with closing(_consumer(cluster)) as consumer:
            for place, offsets in wanted.items():
                asked = set(offsets)
                for span in _close_together(sorted(asked)):
                    rows = _Backwards(consumer, {place: span}, at_once=span.end - span.begin)
                    records += [row for row in rows if row.offset in asked]
                    if rows.is_late or time.monotonic() > deadline:
                        raise Unreachable("The cluster took too long to give its records.")
    except KafkaException as error:
        raise trouble(cluster, error) from None
    return records


def _close_together(offsets: Sequence[int]) -> Iterator[Span]:
    """Spans that hold these offsets, with gaps that are cheaper to read than to leap over."""
    begin = end = None
    for offset in offsets:
        if begin is None or end is None:
            begin = offset
        elif offset - end > _WORTH_READING:
            yield Span(begin, end)
            begin = offset
        end = offset + 1
    if begin is not None and end is not None:
        yield Span(begin, end)


def _consumer(cluster: Cluster) -> Consumer:
    """A consumer that nobody notices. Raises Unreachable."""
    # The client wants a group's name; without commits no such group comes to be.
    return Consumer(
        {
            **client_settings(cluster),
            "group.id": f"headrace-records-{uuid.uuid4()}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "fetch.wait.max.ms": 50,
            "queued.max.messages.kbytes": 16 * 1024,
        }
    )


class _Backwards:
    """Reads spans from their ends: a portion of each partition at a time, merged by time.

    Memory is bounded by portions, and by MAX_BYTES for all of them together.
    """

    def __init__(self, consumer: Consumer, spans: Mapping[Place, Span], at_once: int) -> None:
        self._consumer = consumer
        # What was not given yet, and what was not even read.
        self.left = dict(spans)
        self._unread = dict(spans)
        self._read: dict[Place, list[TopicRecord]] = {place: [] for place in spans}
        portion = max(10, 2 * at_once // max(1, len(spans)))
        self._portion = dict.fromkeys(spans, portion)
        self._most_bytes = MAX_BYTES // max(1, len(spans))
        self._deadline = time.monotonic() + kafka.TIMEOUT
        self.is_late = False

    def __iter__(self) -> Iterator[TopicRecord]:
        while self._fill():
            heads = [
                (rows[-1].milliseconds or 0, place) for place, rows in self._read.items() if rows
            ]
            if not heads:
                self.left = {place: Span(s.begin, s.begin) for place, s in self.left.items()}
                return
            _, place = max(heads)
            record = self._read[place].pop()
            self.left[place] = Span(self.left[place].begin, record.offset)
            yield record

    def _fill(self) -> bool:
        """Read on wherever nothing is left to give; False where time is up."""
        while True:
            wanted = {
                place: Span(max(begin, end - self._portion[place]), end)
                for place, (begin, end) in self._unread.items()
                if begin < end and not self._read[place]
            }
            if not wanted:
                return True
            if not self._take(wanted):
                self.is_late = True
                return False

    def _take(self, wanted: Mapping[Place, Span]) -> bool:
        """Read a portion of each of these partitions; False where time is up before."""
        starts = [TopicPartition(*place, span.begin) for place, span in wanted.items()]
        self._consumer.assign(starts)
        portions = {place: _Portion(span, self._most_bytes) for place, span in wanted.items()}
        open_ = set(wanted)
        while open_:
            left = self._deadline - time.monotonic()
            message = self._consumer.poll(left) if left > 0 else None
            if message is None:
                return False
            place = Place(message.topic() or "", message.partition() or 0)
            if error := message.error():
                if error.code() != KafkaError._PARTITION_EOF:
                    raise KafkaException(error)
                open_.discard(place)
            elif place in open_ and portions[place].is_whole_with(_record(place, message)):
                open_.discard(place)
        for place, portion in portions.items():
            self._read[place] = list(portion.rows)
            self._unread[place] = Span(self._unread[place].begin, portion.begin)
            self._portion[place] = self._next_portion(place, portion)
        return True

    def _next_portion(self, place: Place, portion: "_Portion") -> int:
        """How many offsets to read next: where most records are gone, as by compaction, many."""
        asked, found = self._portion[place], len(portion.rows)
        if portion.is_cut:
            return max(1, found)
        return asked * 4 if 4 * found < asked else min(2 * asked, MOST_AT_ONCE)


class _Portion:
    """The newest records of a span, as many as `most_bytes` hold and at least one."""

    def __init__(self, span: Span, most_bytes: int) -> None:
        self.rows: deque[TopicRecord] = deque()
        # Records before it have to be read another time.
        self.begin = span.begin
        self.is_cut = False
        self._end = span.end
        self._left = most_bytes

    def is_whole_with(self, record: TopicRecord) -> bool:
        """Take in the next record; whether no other is to come."""
        if record.offset < self._end:
            self.rows.append(record)
            self._left -= record.size
        while self._left < 0 and len(self.rows) > 1:
            self._left += self.rows.popleft().size
            self.begin = self.rows[0].offset
            self.is_cut = True
        return record.offset >= self._end - 1


def _offsets(cluster: Cluster, asked: Any, places: list[Place], spec: Any) -> dict[Place, int]:
    """An offset of each partition, asked again while a partition has no leader yet."""
    deadline = time.monotonic() + kafka.TIMEOUT
    found: dict[Place, int] = {}
    while left := [place for place in places if place not in found]:
        wanted = {TopicPartition(*place): spec for place in left}
        for partition, answer in asked.list_offsets(wanted, request_timeout=kafka.TIMEOUT).items():
            try:
                offset = answer.result(timeout=kafka.TIMEOUT + 1).offset
            except KafkaException as error:
                if error.args[0].code() not in _NO_LEADER:
                    raise trouble(cluster, error) from None
                continue
            # A request that timed out comes back as a success without an offset.
            if offset >= 0:
                found[Place(partition.topic, partition.partition)] = offset
        if len(found) < len(places):
            if time.monotonic() > deadline:
                topic, partition = left[0]
                raise Unreachable(f"Partition {partition} of {topic} has no leader that answers.")
            time.sleep(0.1)
    return found


def _at_time(
    cluster: Cluster, consumer: Consumer, spans: Mapping[Place, Span], moment: datetime
) -> dict[Place, int]:
    """The first offset of each partition that is not older than a time; its end where all are."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    milliseconds = max(0, int(aware.timestamp() * 1000))
    asked = [TopicPartition(*place, milliseconds) for place in spans]
    try:
        answers = consumer.offsets_for_times(asked, timeout=kafka.TIMEOUT)
    except KafkaException as error:
        raise trouble(cluster, error) from None
    found = {Place(a.topic, a.partition): a.offset for a in answers}
    return {p: found[p] if found.get(p, -1) >= 0 else span.end for p, span in spans.items()}


def _record(place: Place, message: Message) -> TopicRecord:
    kind, milliseconds = message.timestamp()
    headers: Any = message.headers() or []
    return TopicRecord(
        place,
        message.offset() or 0,
        None if kind == TIMESTAMP_NOT_AVAILABLE else milliseconds,
        _bytes(message.key()),
        _bytes(message.value()),
        tuple((str(name), _bytes(value)) for name, value in headers),
    )


def _bytes(value: bytes | str | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value
