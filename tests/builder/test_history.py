"""Metrics over time: what is kept of them, and how any span of it is told."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from builder.deployments.models import Deployment, Run
from builder.monitor.blocks import roll_up, unpacked
from builder.monitor.models import Metric, MetricBlock
from builder.monitor.points import merged
from builder.monitor.tasks import prune
from builder.pipelines.models import Pipeline, Version
from tests.builder.conftest import Api
from tests.builder.test_follow import GRAPH

DAY = datetime(2026, 11, 2, tzinfo=UTC)


@pytest.fixture
def deployment(admin: User) -> Deployment:
    pipeline = Pipeline.objects.create(name="p", slug="p", graph=GRAPH, owner=admin)
    version = Version.objects.create(pipeline=pipeline, number=1, graph=GRAPH, hash="")
    return Deployment.objects.create(
        pipeline=pipeline, version=version, name="p", graph=GRAPH, script=""
    )


def keep(deployment: Deployment, at: Iterable[datetime], rate: float = 2.0, **more: Any) -> None:
    """Points of these times, which count two rows each."""
    Metric.objects.bulk_create(
        Metric(
            deployment=deployment, at=moment, rate=rate,
            steps={i: {"in": None, "out": 2 * n, "dropped": n, "errors": 0, "rate": rate}
                   for i in ("lines", "words")},
            segments={"out": {"lag": n, "batch_ms": 10.0, "state_rows": n}}, **more,
        )
        for n, moment in enumerate(at, 1)
    )  # fmt: skip


def seconds(start: datetime, count: int, every: int = 1) -> list[datetime]:
    return [start + timedelta(seconds=n * every) for n in range(count)]


def ask(api: Api, deployment: Deployment, start: datetime, end: datetime, more: str = "") -> Any:
    form = "%Y-%m-%dT%H:%M:%SZ"
    span = f"from={start.strftime(form)}&to={end.strftime(form)}{more}"
    return api.get(f"/deployments/{deployment.pk}/metrics?{span}")


# What points of a second become where one stands for ten: averages over time, highest, last.
MERGED: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {
    "one is left as it is": (
        [{"at": 3, "seconds": 1, "rate": 4.0, "lag": None}],
        [{"at": 3, "seconds": 1, "rate": 4.0, "lag": None}],
    ),
    "rates are averaged over time, lags the highest": (
        [
            {"at": 1, "seconds": 1, "rate": 10.0, "lag": 9, "latency_ms": 4.0, "restarts": 1},
            {"at": 9, "seconds": 8, "rate": 1.0, "lag": 2, "latency_ms": None, "restarts": 2},
            {"at": 10, "seconds": 1, "rate": 5.0, "lag": 0, "latency_ms": 1.0, "restarts": 2},
        ],
        [
            {"at": 9, "seconds": 9, "rate": 2.0, "lag": 9, "latency_ms": 4.0, "restarts": 2},
            {"at": 10, "seconds": 1, "rate": 5.0, "lag": 0, "latency_ms": 1.0, "restarts": 2},
        ],
    ),
    "steps that are no more are not told": (
        [
            {"at": 1, "seconds": 1, "rate": 1.0, "steps": {"a": {"out": 1, "rate": 1.0}}},
            {"at": 2, "seconds": 1, "rate": 1.0, "steps": {"b": {"out": 7, "rate": 3.0}}},
        ],
        [{"at": 2, "seconds": 2, "rate": 1.0, "steps": {"b": {"out": 7, "rate": 3.0}}}],
    ),
}


@pytest.mark.parametrize("case", MERGED)
def test_several_points_in_one(case: str) -> None:
    points, expected = MERGED[case]
    assert merged(points, 10) == expected


def test_seconds_become_blocks_and_blocks_coarser_ones(deployment: Deployment) -> None:
    run = Run.objects.create(deployment=deployment, epoch=1, generation=1, started_at=DAY)
    keep(deployment, seconds(DAY, 900, 10))
    now = DAY + timedelta(seconds=9000)
    # 2 h 30 min: 29 blocks of five minutes, the thirtieth may still get more; 2 of an hour.
    assert roll_up(now) == 31
    assert roll_up(now) == 0
    run.ended_at = now
    run.save()
    assert roll_up(now + timedelta(seconds=61)) == 1, "no more comes from a run that has ended"
    assert roll_up(now + timedelta(days=1)) == 2
    of_a_day = MetricBlock.objects.get(every=3600)
    points = unpacked(of_a_day)
    assert [(p["steps"]["lines"]["out"], p["restarts"], p["rate"]) for p in points] == [
        (720, 0, 2.0), (1440, 0, 2.0), (1800, 0, 2.0),
    ]  # fmt: skip
    assert [p[0] - DAY.timestamp() for p in of_a_day.outline] == [8990]


def test_a_span_is_told_from_what_is_kept_of_it(deployment: Deployment, api: Api) -> None:
    """The same span at every age, from seconds, blocks and both: counts stay true."""
    keep(deployment, seconds(DAY, 3 * 8640, 10), lag=5)
    until = DAY + timedelta(days=3)
    as_seconds = ask(api, deployment, DAY, until)
    assert as_seconds["every"] == 600
    roll_up(until - timedelta(hours=20))
    Metric.objects.filter(at__lt=until - timedelta(hours=1)).delete()
    MetricBlock.objects.filter(every=10, at__lt=until - timedelta(days=1)).delete()
    assert set(MetricBlock.objects.values_list("every", flat=True)) == {10, 60, 3600}
    as_blocks = ask(api, deployment, DAY, until)
    assert as_blocks["points"] == as_seconds["points"]
    assert len(as_blocks["points"]) == 432
    # A span within has what was counted before it, of the coarsest that is left.
    MetricBlock.objects.filter(every=60, at__lt=DAY + timedelta(days=2)).delete()
    middle = ask(api, deployment, DAY + timedelta(hours=10), DAY + timedelta(hours=34))
    assert middle["before"]["steps"]["lines"]["out"] == 2 * 3600
    assert middle["points"][-1]["steps"]["lines"]["out"] == 2 * 360 * 34
    assert {p["lag"] for p in middle["points"]} == {5}
    last = ask(api, deployment, until - timedelta(seconds=25), until, "&step=words")
    assert [(p["steps"]["words"]["out"], list(p["steps"])) for p in last["points"]] == [
        (2 * n, ["words"]) for n in (25919, 25920)
    ]


def test_spans_that_are_none(deployment: Deployment, api: Api) -> None:
    keep(deployment, [timezone.now()])
    path = f"/deployments/{deployment.pk}/metrics"
    assert len(api.get(path)["points"]) == 1, "the last hour where no span is named"
    assert api.get(f"{path}?to=2021-01-01T00:00:00")["points"] == []
    assert api.get(f"{path}?from=0001-01-01T00:00:00Z&to=9999-12-31T00:00:00Z")["every"] > 86_400
    for some in (path, "/metrics"):
        api.get(f"{some}?from=yesterday", 422)
        assert (
            "before" in api.get(f"{some}?from=2026-01-02T00:00&to=2026-01-01T00:00", 422)["detail"]
        )


def test_sparklines_of_those_one_may_see(
    deployment: Deployment,
    api: Api,
    as_user: Callable[[User], Api],
) -> None:
    now = timezone.now().replace(microsecond=0)
    keep(deployment, seconds(now - timedelta(hours=2), 7200), lag=3, latency_ms=4.0)
    for blocks in (0, 23):
        if blocks:
            assert roll_up(now) >= blocks
            Metric.objects.filter(at__lt=now - timedelta(minutes=20)).delete()
        told = api.get("/metrics")
        line = told["deployments"][str(deployment.pk)]
        assert (told["every"], len(line)) in {(60, 60), (60, 61)}
        assert {(p["rate"], p["lag"], p["latency_ms"]) for p in line} == {(2.0, 3, 4.0)}
        assert len({p["at"] for p in line}) == len(line)
    nobody = User.objects.create_user("tom")
    assert as_user(nobody).get("/metrics")["deployments"] == {}


def test_seconds_are_not_forgotten_before_they_are_brought_together(
    deployment: Deployment,
) -> None:
    now = timezone.now().replace(minute=30, second=0, microsecond=0)
    keep(deployment, [now - timedelta(hours=hours) for hours in (48, 25, 3)])
    prune()
    assert Metric.objects.count() == 0
    assert MetricBlock.objects.filter(every=60).count() == 3
    assert MetricBlock.objects.filter(every=10).count() == 1, "a day of them is kept"
