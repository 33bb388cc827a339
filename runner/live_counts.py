"""Rows per step within a real-time batch, which Spark itself reports only at the batch's end.

Spark's status store has the SQL metrics of running tasks, brought by their heartbeats. A step
that is observed shows in the plan as CollectMetrics with the step's name; the operator below it
that counts its output rows has counted the step's.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# What the operator below has counted is the step's only where all rows are counted.
_OBSERVED = re.compile(r"CollectMetrics (\w+), \[count\(1\) AS rows")
_JOB = re.compile(r"\A(?P<name>.*)\nid = .*\nrunId = .*\nbatch = (?P<batch>\d+)\s*\Z")
_ROWS = "number of output rows"
_NEWEST = 50


@dataclass(frozen=True)
class LiveBatch:
    """A real-time batch under way: rows out of each step, rows read, whether tasks run."""

    segment: str
    batch: int
    out: dict[str, int]
    read: int
    reading: bool


@dataclass(frozen=True)
class _Execution:
    segment: str
    batch: int
    # The accumulators that hold a step's rows; of the scans.
    steps: dict[str, tuple[int, ...]]
    scans: tuple[int, ...]


class LiveCounts:
    """Asks a session for the counts of its real-time batches. For one thread at a time."""

    def __init__(self, spark: Any) -> None:
        self._store = spark._jsparkSession.sharedState().statusStore()
        self._tracker = spark.sparkContext.statusTracker()
        self._known: dict[int, _Execution | None] = {}

    def batches(self) -> Iterator[LiveBatch]:
        """Each real-time batch under way, its counts about a second old."""
        running = list(self._running())
        self._known = {i: e for i, e in self._known.items() if i in {id_ for id_, _ in running}}
        for id_, data in running:
            if id_ not in self._known:
                self._known[id_] = self._execution(id_, data)
            execution = self._known[id_]
            if execution is not None:
                yield self._counted(id_, data, execution)

    def _running(self) -> Iterator[tuple[int, Any]]:
        count = self._store.executionsCount()
        newest = self._store.executionsList(max(count - _NEWEST, 0), _NEWEST)
        for i in range(newest.size()):
            data = newest.apply(i)
            # The query's batch has an execution of its own below the one of that id.
            if data.completionTime().isEmpty() and data.executionId() != data.rootExecutionId():
                yield data.executionId(), data

    def _execution(self, id_: int, data: Any) -> _Execution | None:
        job = _JOB.match(data.description())
        if job is None:
            return None
        graph = self._store.planGraph(id_)
        nodes = {n.id(): n for n in _each(graph.allNodes())}
        below: dict[int, list[int]] = defaultdict(list)
        for edge in _each(graph.edges()):
            below[edge.toId()].append(edge.fromId())
        scans = [n for n in nodes.values() if n.name().startswith("RealTimeStreamScan")]
        if not scans:
            return None
        counted = {id_: tuple(_accumulators(node)) for id_, node in nodes.items()}
        steps = {}
        for node in nodes.values():
            observed = _OBSERVED.match(node.desc())
            if observed:
                steps[observed[1]] = _first_counted(node.id(), below, counted)
        return _Execution(
            job["name"],
            int(job["batch"]),
            steps,
            tuple(i for n in scans for i in counted[n.id()]),
        )

    def _counted(self, id_: int, data: Any, execution: _Execution) -> LiveBatch:
        values = self._store.executionMetrics(id_)
        out = {
            step: max((_value(values, i) for i in accumulators), default=0)
            for step, accumulators in execution.steps.items()
        }
        read = sum(_value(values, i) for i in execution.scans)
        return LiveBatch(execution.segment, execution.batch, out, read, self._is_reading(data))

    def _is_reading(self, data: Any) -> bool:
        stages = data.stages().mkString(",")
        infos = (self._tracker.getStageInfo(int(s)) for s in stages.split(",") if s)
        return any(info is not None and info.numActiveTasks > 0 for info in infos)


def _first_counted(
    node: int, below: dict[int, list[int]], counted: dict[int, tuple[int, ...]]
) -> tuple[int, ...]:
    while len(below[node]) == 1:
        (node,) = below[node]
        if counted[node]:
            return counted[node]
    return ()


def _accumulators(node: Any) -> Iterator[int]:
    for metric in _each(node.metrics()):
        if metric.name() == _ROWS:
            yield metric.accumulatorId()


def _value(values: Any, accumulator: int) -> int:
    value = values.get(accumulator)
    return int(value.get().replace(",", "")) if value.isDefined() else 0


def _each(sequence: Any) -> list[Any]:
    return [sequence.apply(i) for i in range(sequence.size())]
