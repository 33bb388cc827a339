"""Checkpoints that are gone are missed, never passed over."""

import shutil
from typing import Any

import pytest
from django.utils import timezone

from builder.connections.models import Connection
from builder.deployments import checkpoints
from builder.deployments.models import Deployment, Run
from builder.deployments.preflight import hindrance
from builder.deployments.reconcile import reconcile


@pytest.fixture
def deployment(api: Any, local: Connection) -> Deployment:
    pipeline = api.post("/pipelines", {"template": "word-count"}, 201)
    api.post("/deployments", {"pipeline": pipeline["id"], "start": "latest"}, 201)
    return Deployment.objects.get()


def has_run(deployment: Deployment) -> str:
    """Have a run behind the deployment, with its checkpoint; answers the checkpoint's name."""
    now = timezone.now()
    run = Run.objects.create(
        deployment=deployment, epoch=1, generation=1, state="stopped", started_at=now,
        running_at=now, ended_at=now,
    )  # fmt: skip
    run.folder.mkdir(parents=True)
    (run.folder / "job.py").write_text(deployment.script)
    line = next(s for s in deployment.script.splitlines() if "checkpointLocation" in s)
    name = line.rpartition("/")[2].rstrip('")')
    (deployment.folder / "checkpoints" / name / "offsets").mkdir(parents=True)
    return name


def test_a_deleted_checkpoint_is_never_silently_begun_anew(
    api: Any, deployment: Deployment
) -> None:
    name = has_run(deployment)
    assert checkpoints.lost(deployment) == []
    folder = deployment.folder / "checkpoints" / name
    shutil.rmtree(folder)
    reconcile(deployment.pk)
    said = api.get(f"/deployments/{deployment.pk}")
    assert said["state"] == "backing_off"
    assert f"The checkpoint {name} is gone" in said["message"]
    assert "fresh start" in said["message"]
    assert len(said["runs"]) == 1, "nothing is started on it"

    # Restored, it goes on by itself; only the broker is missing now.
    folder.mkdir()
    found = hindrance(deployment)
    assert found is not None
    assert "local does not answer" in found.message


def test_whoever_asks_for_a_fresh_start_needs_no_checkpoint(
    api: Any, deployment: Deployment
) -> None:
    shutil.rmtree(deployment.folder / "checkpoints" / has_run(deployment))
    assert checkpoints.lost(deployment)
    body = {"pipeline": str(deployment.pipeline_id), "start": "latest", "state": "fresh"}
    api.post("/deployments", body)
    assert checkpoints.lost(Deployment.objects.get()) == []


def test_what_has_never_run_misses_nothing(deployment: Deployment) -> None:
    assert checkpoints.lost(deployment) == []
