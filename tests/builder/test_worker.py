"""A real control worker with beat, fed through a real Redis."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection

from builder.deployments import actions
from builder.deployments.models import Deployment

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def control_worker(tmp_path: Path) -> Iterator[Path]:
    """A control worker on the tests' database; answers its log."""
    log = tmp_path / "worker.log"
    database = connection.settings_dict["NAME"]
    command = [sys.executable, "-m", "celery", "--app", "builder.celery", "worker", "--beat"]
    command += ["--queues", "control", "--concurrency", "1", "--schedule", str(tmp_path / "beat")]
    with log.open("wb") as file:
        worker = subprocess.Popen(
            command,
            env={**os.environ, "DATABASE_URL": f"sqlite:///{database}"},
            cwd=Path(__file__).parents[2],
            stdout=file,
            stderr=file,
        )
    yield log
    worker.terminate()
    worker.wait(timeout=30)


def test_what_is_wanted_reaches_the_worker(
    api: Any, admin: User, local: Any, control_worker: Path
) -> None:
    made = api.post("/pipelines", {"template": "word-count"}, 201)
    deployment, _ = actions.deploy(admin, made["id"])
    deadline = time.monotonic() + 60
    while deployment.state == "pending":
        assert time.monotonic() < deadline, control_worker.read_text()
        time.sleep(0.1)
        deployment = Deployment.objects.get()
    assert deployment.state == "backing_off", "no broker is at this connection"
    assert "local" in deployment.message
    assert cache.get("worker:control")
    first = deployment.retry_at
    while Deployment.objects.get().retry_at == first:
        assert time.monotonic() < deadline, "beat tries again by itself"
        time.sleep(0.1)
    assert "Traceback" not in control_worker.read_text()
