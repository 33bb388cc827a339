"""What a job has done so far, put together from batches that ended and those under way."""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from runner.graph import Graph

# Rates are those of the last seconds: long enough to be steady, short enough to be news.
WINDOW_SECONDS = 5.0

Offsets = dict[str, int]


@dataclass
class _Segment:
    steps: frozenset[str]
    out: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    dropped: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    read: int = 0
    batch: int | None = None
    batch_ms: int | None = None
    watermark: str | None = None
    state_rows: int | None = None
    state_bytes: int | None = None
    # Of the batch under way, in real-time mode.
    live_batch: int = -1
    live_out: dict[str, int] = field(default_factory=dict)
    live_read: int = 0
    # Where the last ended batch ended, by topic-partition.
    at: Offsets = field(default_factory=dict)

    def rows_out(self, step: str) -> int:
        return self.out.get(step, 0) + self.live_out.get(step, 0)

    @property
    def newest_batch(self) -> int | None:
        return self.live_batch if any(self.live_out.values()) else self.batch

    @property
    def rows_read(self) -> int:
        return self.read + self.live_read

    @property
    def position(self) -> int | None:
        """How far it has read its topics, all partitions' offsets together."""
        return sum(self.at.values()) + self.live_read if self.at else None


class Metrics:
    """The newest figures of a job, told by several threads and read once a second.

    Counts are since the run's start. `in` is None where it can't be told: below one branch of
    several. A step that several queries run is counted once.
    """

    def __init__(self, graph: Graph, segments: Iterable[Mapping[str, Any]]) -> None:
        self._graph = graph
        self._lock = threading.Lock()
        self._segments = {s["id"]: _Segment(frozenset(s["steps"])) for s in segments}
        self._steps = [step.id for step in graph.in_order if self._runs(step.id)]
        self._printed: dict[str, int] = defaultdict(int)
        self._newest: Offsets = {}
        self._history: deque[tuple[float, dict[str, int], dict[str, int]]] = deque()
        self._last: dict[str, Any] | None = None

    def _runs(self, step: str) -> bool:
        return any(step in s.steps for s in self._segments.values())

    def batch_ended(self, progress: Mapping[str, Any]) -> None:
        """Take in what Spark says of a batch that has ended, a StreamingQueryProgress as JSON."""
        segment = self._segments.get(progress["name"])
        if segment is None:
            return
        batch, rows = progress["batchId"], progress.get("numInputRows") or 0
        with self._lock:
            if batch != segment.batch or rows:
                for name, counts in progress.get("observedMetrics", {}).items():
                    step = name.removesuffix(".dropped")
                    if self._is_lookup(step):
                        segment.out[step] = counts.get("rows") or 0
                    else:
                        segment.out[step] += counts.get("rows") or 0
                    segment.dropped[step] += counts.get("dropped") or 0
                segment.read += rows
            if segment.live_batch <= batch:
                segment.live_out, segment.live_read = {}, 0
                segment.live_batch = batch + 1
            segment.batch = batch
            segment.batch_ms = progress["durationMs"].get("triggerExecution", segment.batch_ms)
            segment.watermark = progress.get("eventTime", {}).get("watermark", segment.watermark)
            if operators := progress["stateOperators"]:
                segment.state_rows = sum(o["numRowsTotal"] for o in operators)
                segment.state_bytes = sum(o["memoryUsedBytes"] for o in operators)
            for source in progress["sources"]:
                segment.at.update(_offsets(source.get("endOffset")))
                self._newer(_offsets(source.get("latestOffset")))

    def under_way(self, segment_id: str, batch: int, out: Mapping[str, int], read: int) -> None:
        """Take in the counts of a real-time batch that has not ended yet."""
        segment = self._segments.get(segment_id)
        if segment is None:
            return
        with self._lock:
            if batch < segment.live_batch:
                return
            if batch > segment.live_batch and any(segment.live_out.values()):
                # Its end is not reported yet; until then its counts must not be lost.
                return
            segment.live_batch = batch
            segment.live_out = {s: max(n, segment.live_out.get(s, 0)) for s, n in out.items()}
            segment.live_read = max(read, segment.live_read)

    def begins_at(self, segment_id: str, offsets: Offsets) -> None:
        """Take in where a segment begins to read, unless a batch has said more since."""
        segment = self._segments.get(segment_id)
        with self._lock:
            if segment is not None and not segment.at:
                segment.at = dict(offsets)

    def printed(self, step: str, rows: int) -> None:
        """Take in the rows of a step that the program counts itself, batch by batch."""
        with self._lock:
            self._printed[step] += rows

    def newest_offsets(self, offsets: Offsets) -> None:
        """Take in the ends of the topics that are read."""
        with self._lock:
            self._newer(offsets)

    def ends_unknown(self) -> None:
        """Take in that nobody tells where the topics end; lags are None until somebody does."""
        with self._lock:
            self._newest.clear()

    def _newer(self, offsets: Offsets) -> None:
        self._newest.update((k, v) for k, v in offsets.items() if v > self._newest.get(k, -1))

    def topic_partitions(self) -> list[tuple[str, int]]:
        """The topic-partitions that are read, as far as they are known."""
        with self._lock:
            keys = {key for segment in self._segments.values() for key in segment.at}
        return [(topic, int(n)) for topic, _, n in (key.rpartition("-") for key in sorted(keys))]

    def event(self) -> dict[str, Any] | None:
        """A `metrics` event of how things stand, or None if it would say nothing new."""
        now = time.monotonic()
        with self._lock:
            out = {step: self._out(step) for step in self._steps}
            read = {id_: segment.rows_read for id_, segment in self._segments.items()}
            self._history.append((now, out, read))
            while len(self._history) > 2 and now - self._history[1][0] >= WINDOW_SECONDS:
                self._history.popleft()
            then, out_then, read_then = self._history[0]
            seconds = max(now - then, 1.0)
            event = {
                "type": "metrics",
                "steps": {
                    step: {
                        "in": self._in(step, out),
                        "out": out[step],
                        "dropped": self._dropped(step),
                        "rate": _rate(out[step] - out_then.get(step, 0), seconds),
                    }
                    for step in self._steps
                },
                "segments": {
                    id_: {
                        "batch": segment.newest_batch,
                        "batch_ms": segment.batch_ms,
                        "rate": _rate(read[id_] - read_then.get(id_, 0), seconds),
                        "lag": self._lag(segment),
                        "position": segment.position,
                        "watermark": segment.watermark,
                        "state_rows": segment.state_rows,
                        "state_bytes": segment.state_bytes,
                    }
                    for id_, segment in self._segments.items()
                },
            }
        if event == self._last:
            return None
        self._last = event
        return event

    def _out(self, step: str) -> int:
        counted = [s.rows_out(step) for s in self._segments.values()]
        return max(*counted, self._printed.get(step, 0), 0)

    def _dropped(self, step: str) -> int:
        return max((s.dropped.get(step, 0) for s in self._segments.values()), default=0)

    def _in(self, step: str, out: Mapping[str, int]) -> int | None:
        edges = self._graph.edges_into.get(step, [])
        if not edges:
            return out[step] + self._dropped(step)
        if any(edge.output is not None or edge.from_ not in out for edge in edges):
            return None
        return sum(out[edge.from_] for edge in edges)

    def _lag(self, segment: _Segment) -> dict[str, int | None]:
        """What is still to be read of each topic-partition, None where that is not known.

        Within a real-time batch Spark does not say where it stands, only how many rows it has
        read: what these leave over is spread as the new records are.
        """
        behind = {
            k: max(self._newest[k] - at, 0) for k, at in segment.at.items() if k in self._newest
        }
        unknown = dict.fromkeys(segment.at.keys() - behind.keys())
        total = sum(behind.values())
        if not total or not segment.live_read:
            return {**behind, **unknown}
        left = max(total - segment.live_read, 0)
        return {**{k: round(n * left / total) for k, n in behind.items()}, **unknown}

    def _is_lookup(self, step: str) -> bool:
        known = self._graph.by_id.get(step)
        return known is not None and known.type == "lookup_table"


def _offsets(offsets: Any) -> Offsets:
    """Kafka's offsets as a progress has them, {"topic": {"0": 5}}, by topic-partition."""
    if not isinstance(offsets, dict):
        return {}
    return {
        f"{topic}-{partition}": offset
        for topic, partitions in offsets.items()
        if isinstance(partitions, dict)
        for partition, offset in partitions.items()
    }


def _rate(rows: int, seconds: float) -> float:
    return round(max(rows, 0) / seconds, 1)
