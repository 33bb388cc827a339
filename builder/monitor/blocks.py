"""Blocks of points: the history beyond the newest minutes, ever coarser.

Points of a second are rows. From them blocks of a point every 10 seconds are made, from these such
of a point every minute, and from these such of a point every hour; each is written once, when its
span is over, and is small: a month of 50 deployments is some 40,000 blocks.
"""

import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Max, QuerySet
from django.utils import timezone

from builder.deployments.models import Run
from builder.monitor.models import Metric, MetricBlock
from builder.monitor.points import Json, merged, seconds_of


@dataclass(frozen=True)
class Level:
    """How coarse points are, how long a block of them is, and how coarse the points of its outline
    are, in seconds.

    `kept` is the field of Retention that says for how many days.
    """

    every: int
    span: int
    outline: int
    kept: str


LEVELS = (
    Level(10, 300, 60, "metrics_10s_days"),
    Level(60, 3600, 600, "metrics_1min_days"),
    Level(3600, 86_400, 10_800, "metrics_1h_days"),
)

# What a sparkline takes of a point.
OUTLINE = ("at", "seconds", "rate", "lag", "latency_ms")
# What a run has said is taken in within so many seconds of its end.
SETTLED = timedelta(seconds=60)


def roll_up(now: datetime | None = None) -> int:
    """Make the blocks whose spans are over, and answer how many; harmless to repeat."""
    now = now or timezone.now()
    live = set(Run.objects.filter(ended_at=None).values_list("deployment_id", flat=True))
    made = 0
    for finer, level in zip((None, *LEVELS), LEVELS, strict=False):
        done = dict(_newest(MetricBlock.objects.filter(every=level.every)))
        for id_, newest in _newest(_rows(finer)):
            begin = done[id_] + timedelta(seconds=level.span) if id_ in done else None
            if begin is not None and newest < begin:
                continue
            told = newest + timedelta(seconds=finer.span if finer else 0)
            # More may still come for the span that a live run is in.
            until = told if id_ in live else max(told, now - SETTLED)
            made += _make(id_, finer, level, begin, until)
    return made


def _rows(level: Level | None) -> QuerySet[Any]:
    """All points of a level, None for those of a second."""
    if level is None:
        return Metric.objects.order_by("at")
    return MetricBlock.objects.filter(every=level.every).order_by("at")


def _newest(rows: QuerySet[Any]) -> Iterable[tuple[UUID, datetime]]:
    return rows.order_by().values_list("deployment_id").annotate(Max("at"))


def _make(
    id_: UUID, finer: Level | None, level: Level, begin: datetime | None, until: datetime
) -> int:
    """Make the blocks of one deployment from where they end; answer how many."""
    rows, made = _rows(finer).filter(deployment=id_), 0
    while True:
        left = rows if begin is None else rows.filter(at__gte=begin)
        first = left.values_list("at", flat=True).first()
        if first is None:
            return made
        start = datetime.fromtimestamp(first.timestamp() // level.span * level.span, UTC)
        begin = start + timedelta(seconds=level.span)
        if begin > until:
            return made
        points = merged(_points(rows.filter(at__gte=start, at__lt=begin)), level.every)
        block = block_of(id_, level, start, points)
        # Somebody else may have made it in between.
        MetricBlock.objects.bulk_create([block], ignore_conflicts=True)
        made += 1


def block_of(id_: UUID, level: Level, at: datetime, points: list[Json]) -> MetricBlock:
    """A block, unsaved, of the points of its span."""
    lean = [{name: point[name] for name in OUTLINE} for point in points]
    return MetricBlock(
        deployment_id=id_,
        every=level.every,
        at=at,
        packed=zlib.compress(json.dumps(points, separators=(",", ":")).encode()),
        outline=[list(point.values()) for point in merged(lean, level.outline)],
    )


def unpacked(block: MetricBlock) -> list[Json]:
    """The points of a block, in order of time."""
    found: list[Json] = json.loads(zlib.decompress(block.packed))
    return found


def _points(rows: QuerySet[Any]) -> list[Json]:
    if rows.model is Metric:
        return seconds_of(rows)
    return [point for block in rows for point in unpacked(block)]
