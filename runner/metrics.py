"""What a job has done so far, put together from batches that ended and those under way."""

import math
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from runner.graph import Graph

# Rates are those of the last seconds: long enough to be steady, short enough to be news.
WINDOW_SECONDS = 5.0
# How long what was measured of latency says something of now.
LATENCY_SECONDS = 30.0
# While nothing happens, ages alone are told this often.
STILL_SECONDS = 10.0

Offsets = dict[str, int]

# What Spark calls the parts of a batch's time.
_PARTS = {
    "latestOffset": "read offsets",
    "getBatch": "read offsets",
    "queryPlanning": "plan",
    "walCommit": "write offsets",
    "addBatch": "process and write",
    "commitBatch": "commit",
    "commitOffsets": "commit",
}
# The steps that drop what comes after its window or time has closed.
_DROPS_LATE = ("aggregate", "python_processor")


@dataclass(frozen=True)
class Batch:
    """The records that a micro-batch has read, and when (since 1970) their results were written."""

    written_ms: float
    begins: Offsets
    ends: Offsets


@dataclass
class _Segment:
    steps: frozenset[str]
    real_time: bool
    # The step whose late rows Spark counts.
    drops_late: str | None
    # The watermark of the newest batch; None before this run has seen one.
    late_by: str | None = field(default=None, init=False)
    out: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    dropped: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    errors: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    read: int = 0
    batch: int | None = None
    batch_ms: int | None = None
    batch_parts: dict[str, int] | None = None
    # The newest batch of rows that nobody has looked at yet.
    unseen: Batch | None = None
    # What was measured lately: when, and how many milliseconds.
    latencies: deque[tuple[float, float]] = field(default_factory=deque)
    # By topic-partition, the offset of a record that waited: its time, and its age when looked up.
    waited: dict[str, tuple[int, float, float]] = field(default_factory=dict)
    watermark: str | None = None
    state_rows: int | None = None
    state_bytes: int | None = None
    # Of the batch under way, in real-time mode.
    live_batch: int = -1
    live_out: dict[str, int] = field(default_factory=dict)
    live_read: int = 0
    # Where the last ended batch ended, by topic-partition.
    at: Offsets = field(default_factory=dict)

    def watermark_of(self, progress: Mapping[str, Any]) -> str | None:
        said: str | None = progress.get("eventTime", {}).get("watermark", self.watermark)
        return said

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
        self._segments = {
            s["id"]: _Segment(
                frozenset(s["steps"]), s.get("mode") == "real_time", self._drops_late(s["steps"])
            )
            for s in segments
        }
        self._steps = [step.id for step in graph.in_order if self._runs(step.id)]
        self._printed: dict[str, int] = defaultdict(int)
        self._newest: Offsets = {}
        self._history: deque[tuple[float, dict[str, int], dict[str, int]]] = deque()
        self._last: list[dict[str, Any]] | None = None
        self._told = -math.inf
        self._rates: dict[str, float] = {}

    def _drops_late(self, steps: Iterable[str]) -> str | None:
        known = [step for step in steps if step in self._graph.by_id]
        of_these = [s for s in known if self._graph.by_id[s].type in _DROPS_LATE]
        return of_these[-1] if of_these else None

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
                    if name.endswith(".windows"):
                        continue
                    if self._is_lookup(step):
                        segment.out[step] = counts.get("rows") or 0
                    else:
                        segment.out[step] += counts.get("rows") or 0
                    # Under the step's own name: records that were put aside.
                    unread = segment.errors if name == step else segment.dropped
                    unread[step] += counts.get("dropped") or 0
                if segment.drops_late is not None:
                    segment.dropped[segment.drops_late] += _late(progress, segment.late_by)
                segment.read += rows
                if rows and not segment.real_time:
                    segment.unseen = _batch(progress)
            if segment.live_batch <= batch:
                segment.live_out, segment.live_read = {}, 0
                segment.live_batch = batch + 1
            segment.batch = batch
            if "addBatch" in progress["durationMs"]:
                # Rows are late by the watermark of the batch before.
                segment.late_by = segment.watermark_of(progress)
            if "addBatch" in progress["durationMs"] or segment.batch_ms is None:
                segment.batch_ms = progress["durationMs"].get("triggerExecution", segment.batch_ms)
                segment.batch_parts = _parts(progress["durationMs"]) or segment.batch_parts
            segment.watermark = segment.watermark_of(progress)
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

    def topic_partitions(self, segment_id: str | None = None) -> list[tuple[str, int]]:
        """The topic-partitions that are read, by one segment or all, as far as they are known."""
        with self._lock:
            segments = [s for id_, s in self._segments.items() if segment_id in (None, id_)]
            keys = {key for segment in segments for key in segment.at}
        return [(topic, int(n)) for topic, _, n in (key.rpartition("-") for key in sorted(keys))]

    def waiting(self) -> dict[str, Offsets]:
        """By segment, the offset of the oldest record that each topic-partition waits with."""
        with self._lock:
            return {
                id_: {
                    key: self._newest[key] - lag
                    for key, lag in self._lag(segment).items()
                    if lag and key in self._newest
                }
                for id_, segment in self._segments.items()
            }

    def waited(self, segment_id: str, key: str, offset: int, at_ms: float) -> None:
        """Take in when Kafka got a record that waits."""
        now = time.time()
        with self._lock:
            age = max(now - at_ms / 1000, 0.0)
            self._segments[segment_id].waited[key] = (offset, at_ms, age)

    def rows_read(self, segment_id: str) -> int:
        """How many records a segment has read since the run's start."""
        with self._lock:
            return self._segments[segment_id].rows_read

    def unseen_batches(self) -> dict[str, Batch]:
        """By segment, the newest micro-batch that read records since this was last asked."""
        with self._lock:
            unseen = {id_: s.unseen for id_, s in self._segments.items() if s.unseen}
            for id_ in unseen:
                self._segments[id_].unseen = None
        return unseen

    def took(self, segment_id: str, latencies: Iterable[float]) -> None:
        """Take in how many milliseconds results took that came just now."""
        now = time.monotonic()
        with self._lock:
            self._segments[segment_id].latencies.extend((now, ms) for ms in latencies)

    def event(self) -> dict[str, Any] | None:
        """A `metrics` event of how things stand, or None if it would say nothing new.

        While nothing happens watermarks fall behind; that alone is news every ten seconds.
        """
        now = time.monotonic()
        with self._lock:
            steps = self._steps_at(now)
            segments = {id_: self._segment(id_, s, now) for id_, s in self._segments.items()}
            behind = {id_: _behind(s.watermark) for id_, s in self._segments.items()}
        still = [steps, segments]
        if still == self._last and now - self._told < STILL_SECONDS:
            return None
        self._last, self._told = still, now
        told = {id_: {**s, "watermark_delay": behind[id_]} for id_, s in segments.items()}
        return {"type": "metrics", "steps": steps, "segments": told}

    def _steps_at(self, now: float) -> dict[str, Any]:
        out = {step: self._out(step) for step in self._steps}
        read = {id_: segment.rows_read for id_, segment in self._segments.items()}
        self._history.append((now, out, read))
        while len(self._history) > 2 and now - self._history[1][0] >= WINDOW_SECONDS:
            self._history.popleft()
        then, out_then, read_then = self._history[0]
        seconds = max(now - then, 1.0)
        self._rates = {
            id_: _rate(read[id_] - read_then.get(id_, 0), seconds) for id_ in self._segments
        }
        return {
            step: {
                "in": self._in(step, out),
                "out": out[step],
                "dropped": self._dropped(step),
                "errors": self._errors(step),
                "rate": _rate(out[step] - out_then.get(step, 0), seconds),
            }
            for step in self._steps
        }

    def _segment(self, id_: str, segment: _Segment, now: float) -> dict[str, Any]:
        while segment.latencies and now - segment.latencies[0][0] > LATENCY_SECONDS:
            segment.latencies.popleft()
        took = sorted(ms for _, ms in segment.latencies)
        lag = self._lag(segment)
        return {
            "batch": segment.newest_batch,
            "batch_ms": segment.batch_ms,
            "batch_parts": segment.batch_parts,
            "latency_ms": {"p50": _rank(took, 0.5), "p99": _rank(took, 0.99)} if took else None,
            "rate": self._rates[id_],
            "lag": lag,
            "lag_seconds": {key: self._age(segment, key, n) for key, n in lag.items()},
            "position": segment.position,
            "watermark": segment.watermark,
            "state_rows": segment.state_rows,
            "state_bytes": segment.state_bytes,
        }

    def _age(self, segment: _Segment, key: str, lag: int | None) -> float | None:
        """How old the oldest record is that waits; None where that is not known."""
        if not lag:
            return None if lag is None else 0.0
        if key not in segment.waited:
            return None
        offset, at_ms, age = segment.waited[key]
        # What has been looked up may be read by now: until the next look its age then is told.
        waits_still = offset >= self._newest[key] - lag
        return round(max(time.time() - at_ms / 1000, 0.0) if waits_still else age, 1)

    def _out(self, step: str) -> int:
        counted = [s.rows_out(step) for s in self._segments.values()]
        return max(*counted, self._printed.get(step, 0), 0)

    def _dropped(self, step: str) -> int:
        return max((s.dropped.get(step, 0) for s in self._segments.values()), default=0)

    def _errors(self, step: str) -> int:
        return max((s.errors.get(step, 0) for s in self._segments.values()), default=0)

    def _in(self, step: str, out: Mapping[str, int]) -> int | None:
        edges = self._graph.edges_into.get(step, [])
        if not edges:
            return out[step] + self._dropped(step) + self._errors(step)
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


def _rank(ordered: list[float], share: float) -> float:
    """The value that so large a share of all is at most (nearest rank)."""
    return round(ordered[max(math.ceil(share * len(ordered)) - 1, 0)], 1)


def _parts(durations: Mapping[str, int]) -> dict[str, int]:
    parts: dict[str, int] = {}
    for name, ms in durations.items():
        if name in _PARTS:
            parts[_PARTS[name]] = parts.get(_PARTS[name], 0) + ms
    return parts


def _late(progress: Mapping[str, Any], watermark: str | None) -> int:
    """How many rows a batch has dropped because they came too late."""
    ends = [c for n, c in progress.get("observedMetrics", {}).items() if n.endswith(".windows")]
    if not ends or watermark is None:
        return sum(o.get("numRowsDroppedByWatermark") or 0 for o in progress["stateOperators"])
    passed = datetime.fromisoformat(watermark).timestamp() * 1000
    return sum(
        end["count"]
        for counts in ends
        for end in counts.get("ends") or []
        if end["item"] is not None and end["item"] <= passed
    )


def _batch(progress: Mapping[str, Any]) -> Batch:
    durations = progress["durationMs"]
    began = datetime.fromisoformat(progress["timestamp"]).timestamp() * 1000
    after = durations.get("commitOffsets", 0) + durations.get("commitBatch", 0)
    begins: Offsets = {}
    ends: Offsets = {}
    for source in progress["sources"]:
        begins.update(_offsets(source.get("startOffset")))
        ends.update(_offsets(source.get("endOffset")))
    return Batch(began + durations.get("triggerExecution", 0) - after, begins, ends)


def _behind(watermark: str | None) -> float | None:
    """How many seconds a watermark is behind now; None where it has not moved yet."""
    if watermark is None:
        return None
    at = datetime.fromisoformat(watermark).timestamp()
    return round(time.time() - at, 1) if at > 0 else None
