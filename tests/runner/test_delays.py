"""How long results take, told from the times of records."""

import json
import time
import uuid
from typing import Any

import pytest

from runner.delays import NEWEST, after_pauses
from runner.graph import read_graph
from runner.metrics import Metrics
from runner.record_times import RecordTimes
from tests.runner.scenario import make_topics, write

# Times of records and of results by partition, since when they count, and what is found.
PAIRS: dict[str, tuple[list[list[float]], list[list[float]], float, list[float]]] = {
    "each after a pause": ([[0, 1000, 2000]], [[5, 1006, 2004]], 0, [6, 4]),
    "the first of several results": ([[0, 1000]], [[5, 1007, 1009, 1300]], 0, [7]),
    "partitions together": ([[0, 2000], [1000]], [[5], [1008], [2003]], 0, [8, 3]),
    "without a result": ([[0, 1000, 2000]], [[5, 2004]], 0, [4]),
    "without a pause": ([[0, 50, 100, 150]], [[7, 57, 107, 157]], 0, []),
    "too late to be told from the next": ([[0, 1000, 1100]], [[1150, 1250]], 0, []),
    "already seen": ([[0, 1000, 2000]], [[5, 1006, 2004]], 1000, [4]),
    "where not all partitions were looked at": (
        [[0, 1000], [1500 + n for n in range(NEWEST)], [3000]], [[1004, 3009]], 0, [9],
    ),
    "most of an hour late": ([[0, 14_400_000]], [[5, 17_400_000]], 0, [3_000_000]),
}  # fmt: skip


@pytest.mark.parametrize("case", PAIRS)
def test_what_came_after_a_pause(case: str) -> None:
    records, results, after, expected = PAIRS[case]
    assert after_pauses(records, results, after) == expected


def test_times_of_single_records(broker: str) -> None:
    topic, now = f"times-{uuid.uuid4().hex[:8]}", int(time.time() * 1000)
    make_topics(broker, [topic])
    for n in range(10):
        write(broker, topic, [f"{n}"], partition=0, timestamp=now + n)
    write(broker, topic, ["x"], partition=1, timestamp=now - 9)
    times = RecordTimes({"bootstrap_servers": broker})
    first, second = (topic, 0), (topic, 1)
    assert times.partitions(topic) == [0, 1]
    assert times.partitions("nowhere") == []
    assert times.at({first: 3, second: 0}) == {first: now + 3, second: now - 9}
    newest = [now + 6, now + 7, now + 8, now + 9]
    assert times.last([first, second], 4) == {first: newest, second: [now - 9]}
    began = time.monotonic()
    assert times.at({first: 10}) == {}, "nothing is there yet"
    assert time.monotonic() - began < 4
    times.close()


def source_and_count() -> Metrics:
    config = {"connection": "local", "topics": ["t"], "format": "text"}
    aggregate = {"group_by": [], "aggregations": [{"name": "n", "function": "count"}]}
    graph = {
        "version": 1,
        "steps": [
            {"id": "lines", "type": "kafka_source", "config": config},
            {"id": "count", "type": "aggregate", "config": aggregate},
            {"id": "out", "type": "kafka_sink", "config": {"connection": "local", "topic": "o"}},
        ],
        "edges": [{"from": "lines", "to": "count"}, {"from": "count", "to": "out"}],
    }
    segment = {"id": "out", "mode": "micro_batch", "steps": ["lines", "count", "out"]}
    return Metrics(read_graph(graph), [segment])


def ended(batch: int, begin: int, end: int, **more: Any) -> dict[str, Any]:
    """Spark's report of a micro-batch that began at a round second and took 100 ms."""
    return {
        "name": "out", "batchId": batch, "numInputRows": end - begin,
        "timestamp": "2026-11-22T10:00:00.000Z",
        "durationMs": {
            "triggerExecution": 100, "latestOffset": 3, "getBatch": 2, "queryPlanning": 9,
            "walCommit": 6, "addBatch": 60, "commitOffsets": 10, "commitBatch": 10,
        },
        "observedMetrics": {"lines": {"rows": end - begin}},
        "sources": [{"startOffset": {"t": {"0": begin}}, "endOffset": {"t": {"0": end}}}],
        "stateOperators": [
            {"numRowsTotal": 1, "memoryUsedBytes": 9, "numRowsDroppedByWatermark": 2}
        ],
        **more,
    }  # fmt: skip


def told(metrics: Metrics) -> Any:
    event = metrics.event()
    assert event is not None
    return json.loads(json.dumps(event))


def test_a_batch_and_what_waits_behind_it() -> None:
    metrics = source_and_count()
    metrics.batch_ended(ended(0, 0, 10))
    metrics.newest_offsets({"t-0": 15})
    event = told(metrics)
    segment = event["segments"]["out"]
    assert segment["batch_parts"] == {
        "read offsets": 5, "plan": 9, "write offsets": 6, "process and write": 60, "commit": 20,
    }  # fmt: skip
    assert event["steps"]["count"]["dropped"] == 2, "what came too late for it"
    assert (segment["lag"], segment["lag_seconds"]) == ({"t-0": 5}, {"t-0": None})
    (batch,) = metrics.unseen_batches().values()
    assert (batch.begins, batch.ends) == ({"t-0": 0}, {"t-0": 10})
    assert batch.written_ms % 1000 == 80
    assert metrics.unseen_batches() == {}

    assert metrics.waiting() == {"out": {"t-0": 10}}
    metrics.waited("out", "t-0", 10, (time.time() - 7) * 1000)
    metrics.took("out", [80.0, 20.0, 40.0, 30.0])
    segment = told(metrics)["segments"]["out"]
    assert segment["lag_seconds"] == {"t-0": pytest.approx(7, abs=0.5)}
    assert segment["latency_ms"] == {"p50": 30.0, "p99": 80.0}
    assert metrics.event() is None, "nothing is new"

    metrics.batch_ended(ended(1, 10, 15))
    assert told(metrics)["segments"]["out"]["lag_seconds"] == {"t-0": 0}


def test_records_put_aside_and_records_skipped() -> None:
    metrics = source_and_count()
    aside = {"lines": {"rows": None, "dropped": 3}}
    skipped = {"lines": {"rows": 7}, "lines.dropped": {"dropped": 2}}
    metrics.batch_ended(ended(0, 0, 9, observedMetrics=skipped, stateOperators=[]))
    metrics.batch_ended(ended(1, 9, 12, observedMetrics=aside, stateOperators=[]))
    lines = told(metrics)["steps"]["lines"]
    assert lines | {"rate": 0} == {"in": 12, "out": 7, "dropped": 2, "errors": 3, "rate": 0}


def test_late_rows_are_counted_by_when_their_windows_end() -> None:
    """Spark counts them once for each group: of three ends here, two rows each, it tells of 1."""
    metrics, at = source_and_count(), 1_793_000_000_000
    ends = [{"item": at + n, "count": 2} for n in (-1, 0, 1)] + [{"item": None, "count": 9}]
    windows = {"count.windows": {"ends": ends}}
    operators = [{"numRowsTotal": 1, "memoryUsedBytes": 9, "numRowsDroppedByWatermark": 1}]
    watermarks = [
        "1970-01-01T00:00:00.000Z",
        "2026-10-26T07:33:20.000Z",
        "2026-10-26T07:33:21.000Z",
    ]
    dropped = []
    for batch, watermark in enumerate(watermarks):
        report = ended(batch, batch, batch + 1, observedMetrics=windows, stateOperators=operators)
        metrics.batch_ended({**report, "eventTime": {"watermark": watermark}})
        dropped.append(told(metrics)["steps"]["count"]["dropped"])
    # Before the first batch nobody knows the watermark; then it is that of the batch before.
    assert dropped == [1, 1, 5]
