"""A deployment's metrics over time, each span from what is kept of it."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from builder.deployments.models import Deployment
from builder.monitor.blocks import LEVELS, OUTLINE, Level, unpacked
from builder.monitor.models import Metric, MetricBlock
from builder.monitor.points import LONGEST, Json, merged, seconds_of

# How many points a span is told in.
MOST, MOST_OF_A_SPARKLINE = 600, 60
# Before any Headrace.
_BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
_DAY = 86_400
_EVERY = (
    1, 2, 5, 10, 20, 30, 60, 120, 180, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200,
)  # fmt: skip


def history(
    deployment: Deployment, start: datetime | None, end: datetime | None, step: str | None
) -> Json:
    """The points between two times (the last hour where left out), at most some 600."""
    start, end = _span(start, end)
    every = _every(start, end, MOST)
    before = _before(deployment, start)
    points = merged(_points(deployment, start.timestamp(), end.timestamp(), every), every)
    return {
        "from": start,
        "to": end,
        "every": every,
        "before": before and _told(before, step),
        "points": [_told(point, step) for point in points],
    }


def sparklines(
    deployments: QuerySet[Deployment], start: datetime | None, end: datetime | None
) -> Json:
    """Rate, lag and latency of each deployment between two times, at most some 60 points each."""
    start, end = _span(start, end)
    every = _every(start, end, MOST_OF_A_SPARKLINE)
    ids = list(deployments.values_list("pk", flat=True))
    lines = _outlines(ids, start.timestamp(), end.timestamp(), every)
    return {
        "from": start,
        "to": end,
        "every": every,
        "deployments": {
            str(id_): [_told_of_line(point) for point in merged(lines[id_], every)] for id_ in ids
        },
    }


def _span(start: datetime | None, end: datetime | None) -> tuple[datetime, datetime]:
    """The span asked for, as far as there can be anything in it."""
    end = min(max(aware(end) or timezone.now(), _BEGIN), timezone.now() + timedelta(days=1))
    return min(max(aware(start) or end - timedelta(hours=1), _BEGIN), end), end


def aware(moment: datetime | None) -> datetime | None:
    """A time that says no time zone, in that of the installation."""
    if moment is not None and timezone.is_naive(moment):
        return moment.replace(tzinfo=timezone.get_default_timezone())
    return moment


def _every(start: datetime, end: datetime, most: int) -> int:
    """The seconds of a point, so that there are not more than so many."""
    wanted = (end - start).total_seconds() / most
    days = -(-wanted // _DAY)
    return next((every for every in _EVERY if every >= wanted), int(days * _DAY))


def _points(deployment: Deployment, start: float, end: float, every: int) -> list[Json]:
    """The points of a span, from the coarsest level that is fine enough for `every`.

    What is too new for it comes from finer levels, what is too old from coarser ones.
    """
    fine = [level for level in LEVELS if level.every <= every]
    found: list[Json] = []
    for level in reversed(fine):
        since = found[-1]["at"] + 1 if found else start
        found += _of_blocks(deployment, level, since, end)
    found += _seconds(deployment, found[-1]["at"] + 1 if found else start, end)
    for level in LEVELS[len(fine) :]:
        until = found[0]["at"] - 1 if found else end
        found = _of_blocks(deployment, level, start, until) + found
    return found


def _of_blocks(deployment: Deployment, level: Level, start: float, end: float) -> list[Json]:
    blocks = _within(MetricBlock.objects.filter(deployment=deployment), level, start, end)
    return [p for block in blocks for p in unpacked(block) if start <= p["at"] <= end]


def _within(
    blocks: QuerySet[MetricBlock], level: Level, start: float, end: float
) -> QuerySet[MetricBlock]:
    return blocks.filter(
        every=level.every, at__gt=_at(start - level.span), at__lte=_at(end)
    ).order_by("at")


def _seconds(deployment: Deployment, start: float, end: float) -> list[Json]:
    rows = Metric.objects.filter(deployment=deployment, at__gte=_at(start), at__lte=_at(end))
    return seconds_of(rows.order_by("at"))


def _before(deployment: Deployment, start: datetime) -> Json | None:
    """The newest point before a time, of whichever level has it."""
    moment = start.timestamp()
    rows = Metric.objects.filter(deployment=deployment, at__lt=start).order_by("-at")[:1]
    found = seconds_of(rows)
    for level in LEVELS:
        blocks = MetricBlock.objects.filter(
            deployment=deployment, every=level.every, at__lt=start
        ).order_by("-at")[:1]
        found += [p for block in blocks for p in unpacked(block) if p["at"] < moment]
    return max(found, key=lambda point: point["at"], default=None)


def _outlines(ids: list[UUID], start: float, end: float, every: int) -> dict[UUID, list[Json]]:
    """As `_points`, of many deployments and only what a sparkline shows."""
    fine = [level for level in LEVELS if level.outline <= every]
    lines: dict[UUID, list[Json]] = {id_: [] for id_ in ids}
    for level in reversed(fine):
        for id_, outline in _outlines_within(ids, level, _last(lines, start, level.span), end):
            line = lines[id_]
            if not line or outline[-1][0] > line[-1]["at"]:
                points = (dict(zip(OUTLINE, values, strict=True)) for values in outline)
                line += [p for p in points if _is_next(line, p, start, end)]
    for id_, line in lines.items():
        line += _lean_seconds(id_, line[-1]["at"] + 1 if line else start, end)
    for level in LEVELS[len(fine) :]:
        older: dict[UUID, list[Json]] = {id_: [] for id_ in ids}
        for id_, outline in _outlines_within(ids, level, start, end):
            for point in (dict(zip(OUTLINE, values, strict=True)) for values in outline):
                line = lines[id_]
                if start <= point["at"] < (line[0]["at"] if line else end):
                    older[id_].append(point)
        lines = {id_: older[id_] + lines[id_] for id_ in ids}
    return lines


def _lean_seconds(id_: UUID, start: float, end: float) -> list[Json]:
    names, points = OUTLINE[2:], []
    rows = Metric.objects.filter(deployment=id_, at__gte=_at(start), at__lte=_at(end))
    before = start
    for at, *values in rows.order_by("at").values_list("at", *names):
        second = int(at.timestamp())
        passed = min(max(second - before, 1), LONGEST)
        points.append({"at": second, "seconds": passed, **dict(zip(names, values, strict=True))})
        before = second
    return points


def _last(lines: dict[UUID, list[Json]], start: float, span: int) -> float:
    """From when on something may be missing in a line: not all blocks of a time come at once."""
    newest = max((line[-1]["at"] for line in lines.values() if line), default=None)
    return start if newest is None else max(newest - span, start)


def _outlines_within(
    ids: list[UUID], level: Level, start: float, end: float
) -> QuerySet[Any, tuple[UUID, Any]]:
    blocks = _within(MetricBlock.objects.filter(deployment__in=ids), level, start, end)
    return blocks.values_list("deployment_id", "outline")


def _is_next(line: list[Json], point: Json, start: float, end: float) -> bool:
    return start <= point["at"] <= end and (not line or point["at"] > line[-1]["at"])


def _told(point: Json, step: str | None) -> Json:
    steps = {id_: s for id_, s in point["steps"].items() if step in (None, id_)}
    return {**point, "at": _at(point["at"]), "steps": steps}


def _told_of_line(point: Json) -> Json:
    return {**point, "at": _at(point["at"])}


def _at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
