"""The newest rows of console steps: printed by the program, or written to a topic of their own."""

import io
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO

from confluent_kafka import Consumer, KafkaException, TopicPartition

from runner.kafka_login import Cluster
from runner.mask import masked
from runner.topics import client

ROWS = 50
MAX_TEXT = 2_000


class Samples:
    """Keeps the newest rows of each console step until they are asked for.

    `masks` name the columns whose values are not shown.
    """

    def __init__(self, masks: Sequence[str] = ()) -> None:
        self._masks = masks
        self._lock = threading.Lock()
        self._rows: dict[str, deque[Any]] = {}
        self._new: set[str] = set()

    def add(self, step: str, row: Any) -> None:
        with self._lock:
            self._rows.setdefault(step, deque(maxlen=ROWS)).append(
                _clipped(masked(row, self._masks))
            )
            self._new.add(step)

    def events(self) -> list[dict[str, Any]]:
        """A `sample` event for each step with rows that were not told yet, newest row last."""
        with self._lock:
            new, self._new = self._new, set()
            return [{"type": "sample", "step": s, "rows": list(self._rows[s])} for s in sorted(new)]


class Output(io.TextIOBase):
    """Stands for stdout: hands on what the program prints, but for lines meant for Headrace.

    Those are JSON objects with a `step` and its `row` (of a console) or its `rows` (a count).
    """

    def __init__(
        self,
        log: TextIO,
        row: Callable[[str, Any], None],
        rows: Callable[[str, int], None],
    ) -> None:
        self._log = log
        self._row = row
        self._rows = rows
        # Each batch function has a thread of its own, whose lines must not mix with others'.
        self._of_thread = threading.local()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, rest = (getattr(self._of_thread, "begun", "") + text).split("\n")
        self._of_thread.begun = rest
        for line in lines:
            if not self._taken(line):
                self._log.write(f"{line}\n")
        return len(text)

    def flush(self) -> None:
        self._log.flush()

    def _taken(self, line: str) -> bool:
        if not line.startswith('{"step": '):
            return False
        try:
            said = json.loads(line)
        except ValueError:
            return False
        if "row" in said:
            self._row(said["step"], said["row"])
        elif isinstance(said.get("rows"), int):
            self._rows(said["step"], said["rows"])
        else:
            return False
        return True


class ConsoleTopics:
    """Reads the newest rows of console topics, from their ends of now on, in no group's name.

    However fast rows come, only the newest of a partition are fetched.
    """

    def __init__(self, cluster: Cluster, steps: Mapping[str, str], samples: Samples) -> None:
        """`steps` are the console steps by the topic of each."""
        settings = {
            **client(cluster),
            "group.id": "headrace-console",
            "enable.auto.commit": False,
            "allow.auto.create.topics": False,
        }
        self._consumer = Consumer(settings)
        self._steps = steps
        self._samples = samples
        self._next: dict[tuple[str, int], int] = {}
        for topic in steps:
            for partition in self._consumer.list_topics(topic, timeout=5).topics[topic].partitions:
                self._next[topic, partition] = self._end(topic, partition)

    def read(self) -> None:
        """Fetch what is new, for a second at most. Raises KafkaException when Kafka is away."""
        ends = {}
        for (topic, partition), begin in self._next.items():
            end = self._end(topic, partition)
            if end > begin:
                ends[topic, partition] = end
                self._next[topic, partition] = max(begin, end - ROWS)
        if not ends:
            return
        self._consumer.assign([TopicPartition(t, p, self._next[t, p]) for t, p in ends])
        found = []
        while any(self._next[key] < end for key, end in ends.items()):
            messages = self._consumer.consume(ROWS, timeout=1)
            if not messages:
                break
            for message in messages:
                if message.error():
                    raise KafkaException(message.error())
                topic, partition = str(message.topic()), int(message.partition() or 0)
                self._next[topic, partition] = int(message.offset() or 0) + 1
                found.append((message.timestamp()[1], topic, message.value()))
        self._consumer.unassign()
        for _, topic, value in sorted(found, key=lambda f: f[0]):
            self._samples.add(self._steps[topic], _row(value))

    def close(self) -> None:
        self._consumer.close()

    def _end(self, topic: str, partition: int) -> int:
        return self._consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=5)[1]


def _row(value: bytes | None) -> Any:
    try:
        return json.loads(value or b"null")
    except ValueError:
        return {"value": (value or b"").decode(errors="replace")}


def _clipped(value: Any) -> Any:
    """A row as it is shown: long texts and lists cut, so that an event stays small."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else value[:MAX_TEXT] + "…"
    if isinstance(value, list):
        return [_clipped(v) for v in value[:ROWS]] + (["…"] if len(value) > ROWS else [])
    if isinstance(value, dict):
        return {k: _clipped(v) for k, v in value.items()}
    return value
