"""What is forgotten when, and what never is; how full the disk is."""

import os
import uuid
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from builder.access.models import Activity
from builder.connections import kafka
from builder.connections.models import Connection
from builder.deployments.disk import LEAST_BYTES, Room, in_words, used
from builder.deployments.models import Deployment, DeployRequest, Run
from builder.monitor.models import Leftover, Metric, MetricBlock, Retention
from builder.monitor.retention import removals
from builder.monitor.tasks import prune
from builder.pipelines.models import Version

NOW = timezone.now()
LONG_AGO = NOW - timedelta(days=40)


@pytest.fixture
def pipeline(api: Any, local: Connection) -> Any:
    return api.post("/pipelines", {"template": "word-count"}, 201)


@pytest.fixture
def deployment(api: Any, pipeline: Any) -> Deployment:
    api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    return Deployment.objects.get()


@pytest.fixture
def keep() -> Callable[..., None]:
    def limits(**values: int) -> None:
        Retention.current()
        Retention.objects.update(**values)

    return limits


def write(path: Path, size: int = 10, at: Any = LONG_AGO) -> Path:
    """A file of this size, and with its folders last changed then."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    for changed in (path, *list(path.parents)[:4]):
        os.utime(changed, (at.timestamp(), at.timestamp()))
    return path


def made_run(deployment: Deployment, epoch: int, **fields: Any) -> Run:
    run = Run.objects.create(
        **{
            "deployment": deployment, "epoch": epoch, "generation": 1,
            "version": deployment.version, "started_at": LONG_AGO, "running_at": LONG_AGO,
            "ended_at": NOW, "state": "stopped", **fields,
        }
    )  # fmt: skip
    write(run.folder / "log.txt", 1000)
    write(run.folder / "events.jsonl", 500)
    write(run.folder / "job.py", 100)
    return run


def cleaned(*arguments: str) -> str:
    said = StringIO()
    call_command("clean", *arguments, stdout=said)
    return said.getvalue()


def epochs() -> list[int]:
    return sorted(Run.objects.values_list("epoch", flat=True))


def test_the_newest_runs_are_kept_and_what_a_roll_back_needs(
    api: Any, deployment: Deployment, keep: Any
) -> None:
    other = Version.objects.create(
        pipeline=deployment.pipeline, number=9, graph=deployment.graph, hash="other"
    )
    runs = [made_run(deployment, n) for n in range(1, 8)]
    Run.objects.filter(epoch__in=(2, 3)).update(version=other)
    Run.objects.filter(epoch=4).update(ended_at=None)
    keep(runs_kept=2)
    said = cleaned("--dry-run")
    assert "Run 1 of" in said
    assert "would be freed" in said
    assert len(epochs()) == 7, "a dry run removes nothing"
    assert runs[0].folder.exists()

    prune()
    # The live one, the newest two, and the one before them that ran another version.
    assert epochs() == [3, 4, 6, 7]
    assert [run.folder.exists() for run in runs] == [n in (3, 4, 6, 7) for n in range(1, 8)]
    Run.objects.filter(epoch=4).update(ended_at=NOW)
    rolled = api.post(f"/deployments/{deployment.pk}/roll-back")
    assert rolled["version"] == 9
    prune()
    assert 3 in epochs() or 7 in epochs()


def test_logs_are_kept_by_age_and_size(deployment: Deployment, keep: Any) -> None:
    runs = [made_run(deployment, n) for n in range(1, 6)]
    live = made_run(deployment, 6, ended_at=None)
    for run in runs:
        write(run.folder / "log.txt", 400_000)
    keep(log_megabytes=1, log_days=10)
    Run.objects.filter(epoch=5).update(ended_at=LONG_AGO)
    prune()
    there = [run.epoch for run in (*runs, live) if (run.folder / "log.txt").exists()]
    # The fifth is too old; the fourth and third are within a megabyte; the live one stays anyway.
    assert there == [3, 4, 6]
    assert not (runs[0].folder / "events.jsonl").exists()
    assert (runs[0].folder / "job.py").exists(), "what ran is told as long as the run is"
    assert len(epochs()) == 6
    prune()
    assert there == [run.epoch for run in (*runs, live) if (run.folder / "log.txt").exists()]


def test_only_checkpoints_that_nothing_uses_go(deployment: Deployment, keep: Any) -> None:
    folder = deployment.folder / "checkpoints"
    (used_name,) = (
        line.rpartition("/")[2].rstrip('")')
        for line in deployment.script.splitlines()
        if "checkpointLocation" in line
    )
    mine = write(folder / used_name / "offsets" / "0")
    old = write(folder / "counts-0123456789" / "state" / "0" / "1.delta", 5000)
    young = write(folder / "counts-9876543210" / "offsets" / "0", at=NOW)
    running = write(folder / "words-1111111111" / "offsets" / "0")
    lock = write(folder / "lock", 0)
    live = made_run(deployment, 1, ended_at=None)
    (live.folder / "job.py").write_text('.option("x", CHECKPOINTS + "/words-1111111111")')
    keep(checkpoint_days=7)
    said = cleaned("--dry-run")
    assert "counts-0123456789" in said
    assert "5.0 kB" in said
    assert "1 removals" in said
    prune()
    assert [p.exists() for p in (mine, old, young, running, lock)] == [
        True, False, True, True, True,
    ]  # fmt: skip
    assert not (deployment.folder / "removed").exists()

    # The run that used it has ended, and nobody wants its version any more.
    Run.objects.update(ended_at=NOW)
    # What a removal that was cut short has left goes too.
    write(deployment.folder / "removed" / "half-gone.1" / "0")
    prune()
    assert not running.exists()
    assert not (deployment.folder / "removed").exists()
    assert mine.exists(), "a stopped deployment goes on from where it was"


def test_a_program_that_names_no_checkpoints_keeps_all(deployment: Deployment) -> None:
    kept = write(deployment.folder / "checkpoints" / "a-0123456789" / "offsets" / "0")
    Deployment.objects.update(script="")
    prune()
    assert kept.exists()


def test_points_and_keys_go_and_activity_stays(
    api: Any, admin: User, deployment: Deployment, keep: Any
) -> None:
    for days in (1, 3, 5):
        at = timezone.now() - timedelta(days=days, minutes=1)
        Metric.objects.create(deployment=deployment, at=at, rate=1, steps={})
        key = DeployRequest.objects.create(
            user=admin, key=str(days), digest="", deployment=deployment
        )
        DeployRequest.objects.filter(pk=key.pk).update(created_at=at)
    keep(metrics_10s_days=2, key_days=4)
    assert "3 points of metrics" in cleaned("--dry-run")
    prune()
    assert (Metric.objects.count(), DeployRequest.objects.count()) == (0, 2)
    # Seconds are brought together before they go, each in blocks for as long as those are kept.
    assert sorted(MetricBlock.objects.values_list("every", flat=True)) == [
        10,
        60,
        60,
        60,
        3600,
        3600,
        3600,
    ]

    before = Activity.objects.count()
    for removal in removals(timezone.now() + timedelta(days=3650)):
        removal.remove()
    assert (MetricBlock.objects.count(), DeployRequest.objects.count()) == (0, 0)
    assert Activity.objects.count() == before > 0


def test_folders_of_deployments_that_are_no_more_go(data_folder: Path) -> None:
    root = data_folder / "deployments"
    gone, new = root / str(uuid4()), root / str(uuid4())
    write(gone / "checkpoints" / "a" / "0")
    write(new / "runs" / "1" / "run.json", at=NOW)
    foreign = write(root / "not-an-id" / "x" / "y")
    prune()
    assert not gone.exists()
    assert new.exists(), "it may just be being made"
    assert foreign.exists()


def test_topics_of_a_deployment_that_is_no_more_go_when_their_broker_answers(
    api: Any, deployment: Deployment, pipeline: Any, local: Connection, broker: str
) -> None:
    # The broker is there for all tests, and others leave topics of pipelines so called.
    name = f"word-count-{uuid.uuid4().hex[:8]}"
    Deployment.objects.update(name=name)
    api.post(f"/deployments/{deployment.pk}/stop")
    api.delete(f"/pipelines/{pipeline['id']}")
    assert list(Leftover.objects.values_list("name", "connection")) == [(name, "local")]
    prune()
    assert Leftover.objects.exists(), "no broker answers"

    local.bootstrap_servers = broker
    local.save()
    mine, other = f"headrace.{name}.counts.rows", f"headrace.{name}-2.counts.rows"
    for topic in (mine, other):
        kafka.create_topic(broker, topic, 1)
    assert f"1 internal topics of {name}" in cleaned("--dry-run")
    prune()
    there = kafka.topic_partitions(broker)
    assert mine not in there
    assert other in there
    assert not Leftover.objects.exists()


def test_topics_of_a_name_that_is_taken_again_stay(
    api: Any, deployment: Deployment, local: Connection, broker: str
) -> None:
    local.bootstrap_servers = broker
    local.save()
    topic = f"headrace.{deployment.name}.{uuid.uuid4().hex[:8]}.rows"
    kafka.create_topic(broker, topic, 1)
    Leftover.objects.create(name=deployment.name, connection="local")
    Leftover.objects.create(name="any", connection="gone")
    cleaned("--dry-run")
    assert Leftover.objects.count() == 2, "a dry run forgets nothing"
    prune()
    assert topic in kafka.topic_partitions(broker)
    assert not Leftover.objects.exists()


def test_an_admin_changes_the_limits(admin: User, client: Client) -> None:
    client.force_login(admin)
    assert client.get("/admin/monitor/retention/").status_code == 200
    path = f"/admin/monitor/retention/{Retention.current().pk}/change/"
    limits = {
        "runs_kept": 5, "log_days": 3, "log_megabytes": 4, "checkpoint_days": 5, "key_days": 6,
        "metrics_1s_minutes": 20, "metrics_10s_days": 2, "metrics_1min_days": 9,
        "metrics_1h_days": 8,
    }  # fmt: skip
    assert client.post(path, {**limits, "runs_kept": 0}).status_code == 200
    assert Retention.current().runs_kept == 50
    assert client.post(path, limits).status_code == 302
    assert {name: getattr(Retention.current(), name) for name in limits} == limits
    said = Activity.objects.get(subject="retention").message
    assert "runs kept 50 to 5" in said


def test_disk_use_is_told(api: Any, deployment: Deployment, client: Client, admin: User) -> None:
    made_run(deployment, 1)
    write(deployment.folder / "checkpoints" / "a" / "0", 7000)
    expected = {"runs": used(deployment.folder / "runs"), "checkpoints": 7000}
    assert expected["runs"] >= 1600
    assert api.get(f"/deployments/{deployment.pk}")["disk"] == expected
    told = api.get("/disk")
    (mine,) = told["deployments"]
    assert mine == {
        "id": str(deployment.pk), "pipeline": deployment.pipeline.name,
        "environment": "default", **expected,
    }  # fmt: skip
    assert told["data"] >= sum(expected.values())
    assert told["total"] >= told["free"] > 0
    client.force_login(admin)
    page = client.get(f"/admin/deployments/deployment/{deployment.pk}/change/")
    assert "checkpoints 7.0 kB" in page.content.decode()


@pytest.mark.parametrize(
    ("total", "free", "low"),
    [
        (100 * LEAST_BYTES, 50 * LEAST_BYTES, False),
        (100 * LEAST_BYTES, 5 * LEAST_BYTES, False),
        (100 * LEAST_BYTES, 5 * LEAST_BYTES - 1, True),
        (2 * LEAST_BYTES, LEAST_BYTES - 1, True),
        (2 * LEAST_BYTES, LEAST_BYTES, False),
        (2 * LEAST_BYTES, 0, True),
    ],
)
def test_when_a_disk_is_nearly_full(total: int, free: int, low: bool) -> None:
    assert Room(total, free).is_low is low
    assert ("nearly full" in str(Room(total, free))) is low


def test_health_says_when_the_disk_is_nearly_full(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = client.get("/api/health").json()["checks"]["disk"]
    assert "are free" in found["message"]
    monkeypatch.setattr("builder.deployments.disk.LEAST_BYTES", 2**80)
    found = client.get("/api/health").json()
    assert not found["checks"]["disk"]["ok"]
    assert "nearly full" in found["checks"]["disk"]["message"]
    assert found["status"] == "degraded"


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (12_345, "12 kB"),
     (2_500_000, "2.5 MB"), (3 * 10**12, "3.0 TB")],
)  # fmt: skip
def test_sizes_in_words(size: int, words: str) -> None:
    assert in_words(size) == words
