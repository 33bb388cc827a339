"""When Kafka got records."""

import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from runner.kafka_login import Cluster
from runner.topics import client

Partition = tuple[str, int]

# Whoever looks has other things to do; what does not come by then is looked up the next time.
SECONDS = 2.0
# How often nothing may come for a tenth of a second.
MOST_SILENT = 5


class RecordTimes:
    """Looks at single records of a cluster, in no group's name, for the times they bear."""

    def __init__(self, cluster: Cluster) -> None:
        self._known: dict[str, list[int]] = {}
        self._consumer = Consumer(
            {
                **client(cluster),
                "group.id": "headrace-times",
                "enable.auto.commit": False,
                "allow.auto.create.topics": False,
                # No more is fetched than is looked at, as far as that can be said.
                "queued.min.messages": 1,
                # With so few at hand it would wait a second before it fetches more.
                "fetch.queue.backoff.ms": 5,
                "queued.max.messages.kbytes": 256,
                "max.partition.fetch.bytes": 65_536,
                "fetch.wait.max.ms": 10,
            }
        )

    def at(self, offsets: Mapping[Partition, int]) -> dict[Partition, float]:
        """The time of the record at an offset of each partition, or of the next there is.

        In milliseconds since 1970; a partition without one is left out. Raises KafkaException
        when Kafka is away.
        """
        times: dict[Partition, float] = {}
        for partition, message in self._read(offsets, dict.fromkeys(offsets, 1)):
            times.setdefault(partition, message.timestamp()[1])
        return times

    def last(self, partitions: list[Partition], count: int) -> dict[Partition, list[float]]:
        """The times of the newest records of each partition, in their order; at most `count`."""
        begins: dict[Partition, int] = {}
        counts: dict[Partition, int] = {}
        for partition in partitions:
            low, high = self._consumer.get_watermark_offsets(
                TopicPartition(*partition), timeout=SECONDS
            )
            if high > low:
                begins[partition] = max(low, high - count)
                counts[partition] = high - begins[partition]
        times: dict[Partition, list[float]] = {partition: [] for partition in begins}
        for partition, message in self._read(begins, counts):
            times[partition].append(message.timestamp()[1])
        return times

    def partitions(self, topic: str) -> list[int]:
        """The partitions of a topic, none where it is not there."""
        if topic not in self._known:
            found = self._consumer.list_topics(topic, timeout=SECONDS).topics.get(topic)
            if found is None or found.error is not None:
                return []
            self._known[topic] = sorted(found.partitions)
        return self._known[topic]

    def _read(self, begins: Mapping[Partition, int], counts: Mapping[Partition, int]) -> Any:
        left = {partition: n for partition, n in counts.items() if n > 0}
        if not left:
            return
        self._consumer.assign([TopicPartition(t, n, begins[t, n]) for t, n in left])
        deadline, silent = time.monotonic() + SECONDS, -1
        try:
            # Compaction leaves fewer records than offsets: what is silent has no more.
            while left and silent < MOST_SILENT and time.monotonic() < deadline:
                messages = self._consumer.consume(sum(left.values()), timeout=0.1)
                # The first ones may take longer, which are asked of a broker just met.
                silent = 0 if messages else silent + (silent >= 0)
                for message in messages:
                    if message.error():
                        raise KafkaException(message.error())
                    partition = (message.topic(), message.partition())
                    if partition in left:
                        yield partition, message
                        left[partition] -= 1
                        if not left[partition]:
                            del left[partition]
        finally:
            self._consumer.unassign()

    def close(self) -> None:
        self._consumer.close()
