"""How old the records are that wait, and how long results take: measured at single records.

The job itself does nothing for it. Of a micro-batch some of the records that it has read are
looked at: their results have left when the batch was written. In real time results leave one by
one: there what came after a pause is looked at, whose first result nobody else can have caused.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runner.metrics import Batch, Metrics, Offsets
from runner.record_times import Partition, RecordTimes
from runner.topics import Connections

# Of a micro-batch so many records of each partition are looked at.
LOOKED_AT = 5
# Of a topic's partition in real time.
NEWEST = 100
# A record that came so long after the one before comes after a pause.
PAUSE_MS = 100.0
# A result that comes within so small a part of the pause is no other record's.
CERTAIN = 4


class Delays:
    """Measures the segments of a run, each time that `look` is called."""

    def __init__(self, run: Mapping[str, Any], connections: Connections, metrics: Metrics) -> None:
        self._metrics = metrics
        self._clusters = {
            name: RecordTimes(connections[name])
            for name in {t["connection"] for t in run["topics"]}
        }
        self._segments = [s for s in run["segments"] if s["mode"] == "real_time"]
        self._topics: list[dict[str, str]] = list(run["topics"])
        # These are written once a second, and nobody waits for them.
        self._letters = {
            f"{t['step']}_dead_letters" for t in run["topics"] if t["use"] == "dead_letters"
        }
        # How many records had been read, and the time of the newest, when last looked at.
        self._read: dict[str, int] = {}
        self._seen: dict[str, float] = {}

    def look(self) -> None:
        """Tell the metrics what is seen now. Raises KafkaException while Kafka is away."""
        self._look_at_waiting()
        for segment, batch in self._metrics.unseen_batches().items():
            if segment not in self._letters:
                self._metrics.took(segment, self._of_batch(batch))
        for segment in self._segments:
            read = self._metrics.rows_read(segment["id"])
            if read != self._read.get(segment["id"], 0):
                self._read[segment["id"]] = read
                self._metrics.took(segment["id"], self._in_real_time(segment))

    def _look_at_waiting(self) -> None:
        for segment, offsets in self._metrics.waiting().items():
            for (topic, number), at in self._at(offsets).items():
                key = f"{topic}-{number}"
                self._metrics.waited(segment, key, offsets[key], at)

    def _of_batch(self, batch: Batch) -> list[float]:
        found: list[float] = []
        for i in range(LOOKED_AT):
            offsets: Offsets = {}
            for key, end in batch.ends.items():
                begin = batch.begins.get(key, end)
                if end - begin > i:
                    # Evenly from the first to the last, each once.
                    among = min(end - begin, LOOKED_AT)
                    offsets[key] = begin + i * (end - begin - 1) // max(among - 1, 1)
            found += [batch.written_ms - at for at in self._at(offsets).values()]
        return [max(ms, 0.0) for ms in found]

    def _in_real_time(self, segment: Mapping[str, Any]) -> list[float]:
        written = [
            (t["connection"], t["topic"])
            for t in self._topics
            if t["use"] in ("write", "internal") and t["step"] in segment["steps"]
        ]
        read = self._metrics.topic_partitions(segment["id"])
        results = self._last([(c, (t, n)) for c, t in written for n in self._partitions(c, t)])
        records = self._last([(self._cluster_of(t), (t, n)) for t, n in read])
        after = self._seen.get(segment["id"], 0.0)
        self._seen[segment["id"]] = max([after, *(r[-1] for r in records)])
        return after_pauses(records, results, after)

    def _at(self, offsets: Offsets) -> dict[Partition, float]:
        found: dict[Partition, float] = {}
        for name, cluster in self._clusters.items():
            mine = {
                (topic, int(n)): offset
                for key, offset in offsets.items()
                for topic, _, n in [key.rpartition("-")]
                if self._cluster_of(topic) == name
            }
            found |= cluster.at(mine)
        return found

    def _last(self, partitions: Iterable[tuple[str, Partition]]) -> list[list[float]]:
        by_cluster: dict[str, list[Partition]] = {}
        for name, partition in partitions:
            by_cluster.setdefault(name, []).append(partition)
        return [
            times
            for name, mine in by_cluster.items()
            for times in self._clusters[name].last(mine, NEWEST).values()
            if times
        ]

    def _partitions(self, connection: str, topic: str) -> Iterable[int]:
        return self._clusters[connection].partitions(topic)

    def _cluster_of(self, topic: str) -> str:
        named = (t["connection"] for t in self._topics if t.get("topic") == topic)
        # One that a pattern has found.
        patterns = (t["connection"] for t in self._topics if "pattern" in t)
        return next(named, None) or next(patterns, "") or next(iter(self._clusters))


def after_pauses(
    records: Sequence[Sequence[float]], results: Sequence[Sequence[float]], after: float = 0.0
) -> list[float]:
    """How long the first result took of each record that came after a pause.

    `records` and `results` are times in milliseconds, by partition, in order; only records later
    than `after` count. A record is left out where its result can't be told from another's: where
    no pause came before it, or the first result after it came later than the next record did.
    """
    # Before this moment some partitions were not looked at.
    since = max((times[0] for times in records if len(times) >= NEWEST), default=0.0)
    came = sorted(at for times in records for at in times if at >= since)
    left = sorted(at for times in results for at in times)
    found: list[float] = []
    for i in range(1, len(came)):
        at, pause = came[i], came[i] - came[i - 1]
        if at <= after or pause < PAUSE_MS:
            continue
        first = bisect_right(left, at - 1)
        following = came[i + 1] if i + 1 < len(came) else at + pause
        if first < len(left) and left[first] < following and left[first] - at <= pause / CERTAIN:
            found.append(left[first] - at)
    return found
