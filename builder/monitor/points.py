"""Points of a deployment's history: what it had counted, and how it did since the point before.

A point is JSON: `at` (seconds since 1970), `seconds` (how long it stands for), the rest as
`builder.monitor.schema.Point` says it.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

Json = dict[str, Any]

# Jobs say something at least every ten seconds: after a longer silence there was nothing to say.
LONGEST = 15

COLUMNS = ("rate", "lag", "lag_seconds", "latency_ms", "restarts", "steps", "segments")
STEP = ("in", "out", "dropped", "errors", "rate")
SEGMENT = ("batch_ms", "lag", "lag_seconds", "watermark_delay", "state_rows", "state_bytes")
# How a value of several points becomes that of one; of the others the last is taken.
AVERAGED = {"rate", "batch_ms", "latency_ms"}
HIGHEST = {"lag", "lag_seconds", "latency_p99_ms", "watermark_delay"}


def point_of(metrics: Json) -> Json:
    """What is kept of the newest metrics of a deployment, but for their time."""
    return {
        "rate": metrics["rate"],
        "lag": metrics.get("lag"),
        "lag_seconds": metrics.get("lag_seconds"),
        "latency_ms": metrics.get("latency_ms"),
        "restarts": metrics.get("restarts", 0),
        "steps": {
            id_: {name: step.get(name) for name in STEP} for id_, step in metrics["steps"].items()
        },
        "segments": {id_: _segment(s) for id_, s in metrics["segments"].items()},
    }


def _segment(segment: Json) -> Json:
    latency = segment.get("latency_ms") or {}
    return {
        **{name: segment.get(name) for name in SEGMENT},
        "latency_ms": latency.get("p50"),
        "latency_p99_ms": latency.get("p99"),
        "lag": total(segment.get("lag")),
        "lag_seconds": highest((segment.get("lag_seconds") or {}).values()),
    }


def total(lag: dict[str, int | None] | None) -> int | None:
    """All topic-partitions together; None where one of them is not known."""
    if not lag or None in lag.values():
        return None
    return sum(n or 0 for n in lag.values())


def highest(values: Iterable[float | None]) -> float | None:
    """The highest of those that are known; None where none is."""
    return max((v for v in values if v is not None), default=None)


def seconds_of(rows: Iterable[Any]) -> list[Json]:
    """The points of rows of `Metric`, of one deployment and in order of time."""
    points: list[Json] = []
    for row in rows:
        at = int(row.at.timestamp())
        passed = min(at - points[-1]["at"], LONGEST) if points else 1
        points.append(
            {"at": at, "seconds": passed, **{name: getattr(row, name) for name in COLUMNS}}
        )
    return points


def merged(points: Iterable[Json], every: int) -> list[Json]:
    """One point for each span of so many seconds that has any, at the time of its last.

    Rates, batch times and median latencies are averaged over time; of lags, delays and 99th
    percentiles the highest is taken; of counts, restarts and sizes the last.
    """
    return [_one(list(group)) for _, group in groupby(points, lambda p: p["at"] // every)]


def _one(points: Sequence[Json]) -> Json:
    last = points[-1]
    if len(points) == 1:
        return last
    weights = [point["seconds"] for point in points]
    one = _flat(points, weights)
    one["seconds"] = sum(weights)
    for parts in ("steps", "segments"):
        # A sparkline has neither.
        if parts in last:
            one[parts] = {
                id_: _flat([point[parts].get(id_) or {} for point in points], weights)
                for id_ in last[parts]
            }
    return one


def _flat(values: Sequence[Json], weights: Sequence[float]) -> Json:
    one = dict(values[-1])
    for name in one.keys() & AVERAGED:
        known = [
            (v, w)
            for row, w in zip(values, weights, strict=True)
            if (v := row.get(name)) is not None
        ]
        weight = sum(w for _, w in known)
        one[name] = round(sum(v * w for v, w in known) / weight, 2) if weight else None
    for name in one.keys() & HIGHEST:
        one[name] = highest(row.get(name) for row in values)
    return one
