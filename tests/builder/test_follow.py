"""What a run says, kept and told."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from builder.deployments import reconcile as reconciler
from builder.deployments.models import Deployment, Run
from builder.deployments.reconcile import reconcile
from builder.monitor.follow import follow_run
from builder.monitor.models import Metric, Sequence
from builder.pipelines.models import Pipeline, Version

GRAPH = {
    "version": 1,
    "steps": [
        {"id": "lines", "type": "kafka_source"},
        {"id": "words", "type": "explode"},
        {"id": "out", "type": "console_sink"},
    ],
    "edges": [{"from": "lines", "to": "words"}, {"from": "words", "to": "out"}],
}
AT = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


@pytest.fixture
def deployment(admin: User) -> Deployment:
    pipeline = Pipeline.objects.create(name="p", slug="p", graph=GRAPH, owner=admin)
    version = Version.objects.create(pipeline=pipeline, number=1, graph=GRAPH, hash="")
    return Deployment.objects.create(
        pipeline=pipeline, version=version, name="p", graph=GRAPH, script="", state="starting"
    )


def live_run(deployment: Deployment, epoch: int = 1, **fields: Any) -> Run:
    run = Run.objects.create(
        deployment=deployment, epoch=epoch, generation=1, started_at=timezone.now(), **fields
    )
    run.folder.mkdir(parents=True)
    return run


def write(run: Run, *events: Any) -> None:
    with (run.folder / "events.jsonl").open("a") as file:
        for event in events:
            file.write(event if isinstance(event, str) else json.dumps(event) + "\n")


def metrics(second: float, lines: int, words: int, rate: float = 5.0) -> dict[str, Any]:
    return {
        "at": (AT + timedelta(seconds=second)).isoformat(),
        "type": "metrics",
        "steps": {
            "lines": {"in": lines, "out": lines, "dropped": 0, "errors": 2, "rate": rate},
            "words": {"in": lines, "out": words, "dropped": 1, "errors": 0, "rate": 2 * rate},
            "out": {"in": None, "out": words, "dropped": 0, "errors": 0, "rate": 2 * rate},
        },
        "segments": {"out": {"batch": 1, "batch_ms": 5, "rate": rate, "lag": {"lines-0": 2}}},
    }


def state(name: str, message: str = "m", step: str | None = None) -> dict[str, Any]:
    return {"at": AT.isoformat(), "type": "state", "state": name, "message": message, "step": step}


def test_a_file_that_is_not_there_yet(deployment: Deployment) -> None:
    run = live_run(deployment)
    follow_run(run)
    write(run)
    follow_run(run)
    assert Run.objects.get().events_offset == 0


def test_only_complete_lines_are_taken(deployment: Deployment) -> None:
    run = live_run(deployment)
    half = json.dumps(state("running", "Running in real time."))
    write(run, state("starting"), half[:20])
    follow_run(run)
    assert Run.objects.get().state == "starting"
    write(run, half[20:] + "\n")
    follow_run(run)
    run = Run.objects.get()
    assert (run.state, run.events_offset) == (
        "running",
        (run.folder / "events.jsonl").stat().st_size,
    )
    assert run.running_at is not None
    deployment.refresh_from_db()
    assert (deployment.state, deployment.message) == ("running", "Running in real time.")


def test_lines_are_taken_once(deployment: Deployment) -> None:
    run = live_run(deployment)
    write(run, metrics(0, 10, 30))
    stale = Run.objects.get()
    follow_run(run)
    seq = Deployment.objects.get().seq
    follow_run(run)
    follow_run(stale)
    assert Deployment.objects.get().seq == seq
    assert Metric.objects.count() == 1


def test_metrics_are_kept_one_point_a_second(deployment: Deployment) -> None:
    run = live_run(deployment)
    write(run, metrics(0.1, 1, 3), metrics(0.9, 2, 6), metrics(1.2, 3, 9, rate=7.5))
    follow_run(run)
    assert [(p.at, p.steps["lines"]["out"], p.rate) for p in Metric.objects.all()] == [
        (AT, 2, 5.0), (AT + timedelta(seconds=1), 3, 7.5),
    ]  # fmt: skip
    now = Deployment.objects.get()
    assert now.rate == 7.5, "the rate of a deployment is that of its sources"
    assert now.metrics["steps"]["words"] == {
        "in": 3,
        "out": 9,
        "dropped": 1,
        "errors": 0,
        "rate": 15.0,
    }
    assert now.metrics["steps"]["out"]["in"] is None
    assert now.metrics["segments"]["out"]["lag"] == {"lines-0": 2}


def test_what_all_segments_tell_together(deployment: Deployment) -> None:
    run = live_run(deployment)
    event = metrics(0, 1, 3)
    ms = {"p50": 5.0, "p99": 9.5}
    event["segments"] = {
        "out": {
            "lag": {"a-0": 2, "a-1": 3},
            "lag_seconds": {"a-0": 1.5, "a-1": None},
            "batch_ms": 7,
        },
        # It reads the same topic a second time, and another that nobody knows the end of.
        "lines": {"lag": {"a-0": 4}, "lag_seconds": {"a-0": 0.5}, "latency_ms": ms},
    }
    write(run, event)
    follow_run(run)
    now = Deployment.objects.get().metrics
    assert [now[name] for name in ("lag", "lag_seconds", "latency_ms", "restarts")] == [
        7,
        1.5,
        5.0,
        0,
    ]
    point = Metric.objects.get()
    assert (point.lag, point.lag_seconds, point.latency_ms) == (7, 1.5, 5.0)
    assert point.segments["out"]["lag"] == 5
    assert point.segments["lines"]["latency_p99_ms"] == 9.5
    event = metrics(1, 1, 3)
    event["segments"] = {"out": {"lag": {"a-0": 2, "a-1": None}}}
    write(run, event)
    follow_run(run)
    assert Deployment.objects.get().metrics["lag"] is None, "a part is not the whole"


def test_counts_go_on_after_a_restart(deployment: Deployment, monkeypatch: Any) -> None:
    # A process that is none of this boot is dead.
    run = live_run(deployment, boot_id="0", pid=1, start_ticks=1)
    write(run, metrics(0, 10, 30))
    monkeypatch.setattr(reconciler, "_start", lambda *_: False)
    reconcile(deployment.pk)
    now = Deployment.objects.get()
    assert now.rate == 0, "nothing flows while no run is live"
    assert now.metrics["lag"] is None, "and nobody looks how much waits"
    assert (now.restarts, now.metrics["restarts"]) == (1, 1)
    second = now.live_run()
    assert second is not None
    assert second.epoch == 2
    assert second.counts_before["words"] == {"in": 10, "out": 30, "dropped": 1, "errors": 0}
    second.folder.mkdir(parents=True, exist_ok=True)
    write(second, metrics(60, 1, 2))
    follow_run(second)
    now.refresh_from_db()
    assert now.metrics["steps"]["words"] == {
        "in": 11,
        "out": 32,
        "dropped": 2,
        "errors": 0,
        "rate": 10.0,
    }
    point = Metric.objects.get(at=AT + timedelta(seconds=60))
    assert point.steps["lines"] == {"in": 11, "out": 11, "dropped": 0, "errors": 4, "rate": 5.0}


def test_a_run_that_is_no_more_wanted_says_nothing_of_its_deployment(
    deployment: Deployment,
) -> None:
    run = live_run(deployment)
    Deployment.objects.update(desired="stopped", state="stopping", message="Stopping.")
    write(run, state("running"), state("stopping"), state("stopped"))
    follow_run(run)
    now = Deployment.objects.get()
    assert (now.state, now.message) == ("stopping", "Stopping.")
    assert Run.objects.get().state == "stopped"


def test_an_older_generation_says_nothing_either(deployment: Deployment) -> None:
    run = live_run(deployment)
    Deployment.objects.update(generation=2, state="pending")
    write(run, state("running"))
    follow_run(run)
    assert Deployment.objects.get().state == "pending"


def test_an_ended_run_is_not_followed(deployment: Deployment) -> None:
    run = live_run(deployment, ended_at=timezone.now())
    write(run, state("running"))
    follow_run(run)
    assert Deployment.objects.get().state == "starting"


def test_a_missing_topic_is_named(deployment: Deployment) -> None:
    Deployment.objects.update(
        topics=[
            {"connection": "a", "step": "other", "use": "read", "topic": "lines"},
            {"connection": "b", "step": "lines", "use": "read", "topic": "lines"},
        ]
    )
    run = live_run(deployment)
    problem = {"type": "problem", "step": "lines", "field": "topics", "severity": "error",
               "message": "There is no topic lines.", "topic": "lines", "at": None}  # fmt: skip
    write(run, problem, problem)
    follow_run(run)
    assert Deployment.objects.get().missing_topics == [{"connection": "b", "topic": "lines"}]
    write(run, state("running"))
    follow_run(run)
    assert Deployment.objects.get().missing_topics == []


def test_the_newest_rows_of_a_console(deployment: Deployment) -> None:
    run = live_run(deployment)
    for first in (0, 100):
        rows = [{"n": n} for n in range(first, first + 60)]
        write(run, {"type": "sample", "step": "out", "rows": rows, "at": None})
    follow_run(run)
    samples = Deployment.objects.get().samples
    assert [row["n"] for row in samples["out"]] == list(range(110, 160))


def test_rows_that_no_database_keeps(deployment: Deployment) -> None:
    run = live_run(deployment)
    write(run, '{"type": "sample", "step": "out", "at": null, "rows": '
               '[{"a\\u0000": "x\\ud800y", "n": NaN, "deep": [{"m": -Infinity}]}]}\n')  # fmt: skip
    follow_run(run)
    assert Deployment.objects.get().samples["out"] == [
        {"a\ufffd": "x\ufffdy", "n": None, "deep": [{"m": None}]}
    ]


def test_events_are_numbered_without_gaps(deployment: Deployment) -> None:
    run = live_run(deployment)
    write(run, state("running"), metrics(0, 1, 1), metrics(1, 2, 2))
    write(run, {"type": "sample", "step": "out", "rows": [{}], "at": None})
    follow_run(run)
    # The state, the newest rows and the newest metrics; of those the list hears two.
    assert Deployment.objects.get().seq == 3
    assert Sequence.objects.get().value == 2


def test_a_flood_of_log_lines_is_cut_short(deployment: Deployment) -> None:
    run = live_run(deployment)
    write(
        run, *({"type": "log", "level": "info", "message": str(n), "at": None} for n in range(500))
    )
    follow_run(run)
    assert Deployment.objects.get().seq == 50


def test_what_cannot_be_read_is_passed_over(deployment: Deployment) -> None:
    run = live_run(deployment)
    write(run, "not json\n", '{"no": "type"}\n', '{"type": "unheard"}\n', state("running"))
    follow_run(run)
    assert Deployment.objects.get().state == "running"
