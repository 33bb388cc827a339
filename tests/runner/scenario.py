"""A scenario: a graph, rows for its sources, and what must come out of its sinks."""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from runner.graph import Graph, read_graph

Row = dict[str, Any]

# On tests of minutes: `make scenarios` runs them, `make test` does not.
long = pytest.mark.skipif(
    not os.environ.get("HEADRACE_SCENARIOS"), reason="takes a minute; `make scenarios` runs it"
)


@dataclass(frozen=True)
class Scenario:
    name: str
    graph: Graph
    rows: dict[str, list[Row]]
    expect: dict[str, Any]

    def batches(self) -> list[dict[str, list[Row]]]:
        """The rows of each batch, by source."""
        last = max(row.get("_batch", 0) for rows in self.rows.values() for row in rows)
        return [
            {
                source: [r for r in rows if r.get("_batch", 0) == batch]
                for source, rows in self.rows.items()
            }
            for batch in range(last + 1)
        ]


def load(path: Path, prefix: str = "") -> Scenario:
    """A scenario from its file, its topics and dynamic topics renamed with a prefix."""
    data = json.loads(path.read_text())
    for step in data["graph"]["steps"]:
        config = step["config"]
        if "topics" in config:
            config["topics"] = [prefix + topic for topic in config["topics"]]
        if config.get("topic"):
            config["topic"] = prefix + config["topic"]
        if config.get("topic_expression"):
            config["topic_expression"] = f"concat('{prefix}', {config['topic_expression']})"
    return Scenario(data["name"], read_graph(data["graph"]), data["rows"], data["expect"])


def make_topics(servers: str, topics: list[str], partitions: int = 2) -> None:
    """Make the topics that are not there."""
    admin = AdminClient({"bootstrap.servers": servers})
    there = set(admin.list_topics(timeout=10).topics)
    # Records may claim a time of last year, and are to stay all the same.
    config = {"retention.ms": "-1"}
    wanted = [
        NewTopic(t, num_partitions=partitions, config=config) for t in topics if t not in there
    ]
    for future in admin.create_topics(wanted).values() if wanted else ():
        future.result()


def produce(servers: str, topic: str, config: dict[str, Any], rows: list[Row]) -> None:
    """Write rows as the records of a source: what begins with an underscore is about the record."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
    for row in rows:
        value: str | None
        if row.get("_deleted"):
            value = None
        elif config["format"] == "text" or set(row) - {"_batch", "_key"} == {"value"}:
            value = row["value"]
        else:
            value = json.dumps({k: v for k, v in row.items() if not k.startswith("_")})
        at = row.get("_timestamp")
        millis = int(datetime.fromisoformat(at).timestamp() * 1000) if at else 0
        producer.produce(topic, value=value, key=row.get("_key"), timestamp=millis)
    assert producer.flush(20) == 0


def write(servers: str, topic: str, values: Iterable[str], **about: Any) -> None:
    """Write values as they are; `about` is of each record: its key, its partition."""
    producer = Producer({"bootstrap.servers": servers})
    for value in values:
        producer.produce(topic, value=value, **about)
    assert producer.flush(20) == 0


def read_all(servers: str, topics: list[str]) -> list[Row]:
    """Every record there is now, oldest first within a partition, as rows.

    What a job wrote again after a crash is dropped, by the header that names each record.
    """
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": "unused", "enable.auto.commit": False}
    )
    try:
        return [_row(message) for message in _first_ones(_messages(consumer, topics))]
    finally:
        consumer.close()


def read_headers(servers: str, topics: list[str]) -> list[dict[str, bytes]]:
    """The headers of every record there is now."""
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": "unused", "enable.auto.commit": False}
    )
    try:
        return [dict(message.headers() or []) for message in _messages(consumer, topics)]
    finally:
        consumer.close()


def _first_ones(messages: list[Any]) -> Iterator[Any]:
    seen = set()
    for message in messages:
        name = dict(message.headers() or []).get("headrace.id")
        if name is None or (message.topic(), name) not in seen:
            seen.add((message.topic(), name))
            yield message


def _messages(consumer: Consumer, topics: list[str]) -> list[Any]:
    known = consumer.list_topics(timeout=10).topics
    ends = {
        (topic, partition): consumer.get_watermark_offsets(TopicPartition(topic, partition))[1]
        for topic in topics
        if topic in known
        for partition in known[topic].partitions
    }
    ends = {key: end for key, end in ends.items() if end > 0}
    consumer.assign([TopicPartition(topic, partition, 0) for topic, partition in ends])
    found, deadline = [], time.monotonic() + 20
    while ends and time.monotonic() < deadline:
        message = consumer.poll(0.5)
        if message is None or message.error():
            continue
        found.append(message)
        key = (message.topic(), message.partition())
        if message.offset() + 1 >= ends.get(key, 0):
            ends.pop(key, None)
    assert not ends, f"could not read to the end of {ends}"
    return sorted(found, key=lambda m: (m.topic(), m.partition(), m.offset()))


def _row(message: Any) -> Row:
    key = message.key().decode() if message.key() is not None else None
    about = {"_topic": message.topic(), "_partition": message.partition(), "_key": key}
    if message.value() is None:
        return {**about, "_deleted": True}
    text = message.value().decode()
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    return {"value": text, **(value if isinstance(value, dict) else {}), **about, "_value": text}


def difference(expect: dict[str, Any], rows: list[Row], prefix: str = "") -> str | None:
    """How the rows of a sink differ from what is expected, None where they don't."""
    expected = expect.get("rows")
    if expected is not None:
        expected = [
            {k: prefix + v if k == "_topic" else v for k, v in row.items()} for row in expected
        ]
    if expect["compare"] == "last_per_key":
        newest: dict[str, Row] = {}
        for row in rows:
            key = row.get("_key") or json.dumps([row.get(k) for k in expect["key"]])
            before = newest.get(key, row)
            if _place(row) != _place(before):
                return f"{key} is in {_place(before)} and in {_place(row)}: which is the newest?"
            newest[key] = row
        rows = [row for row in newest.values() if not row.get("_deleted")]
    if expected is None:
        return None if len(rows) == expect["count"] else f"{len(rows)} keys: {rows}"
    left = list(rows)
    for wanted in expected:
        match = next((r for r in left if all(r.get(k) == v for k, v in wanted.items())), None)
        if match is None:
            return f"no row {wanted} among {left}"
        left.remove(match)
    return f"too many: {left}" if left else None


def _place(row: Row) -> tuple[str | None, int | None]:
    """Within which a topic keeps rows in order."""
    return row.get("_topic"), row.get("_partition")


def wait_until(done: Callable[[], str | None], seconds: float) -> None:
    """Return once `done` answers None; fail with its last answer when time is up."""
    deadline = time.monotonic() + seconds
    while (answer := done()) is not None:
        assert time.monotonic() < deadline, answer
        time.sleep(0.3)
