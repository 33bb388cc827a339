"""Real workers, fed through a real Redis."""

import copy
import os
import signal
import subprocess
import sys
import threading
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
from builder.pipelines.templates import templates

pytestmark = pytest.mark.django_db(transaction=True)


def start_worker(log: Path, *words: str) -> "subprocess.Popen[bytes]":
    """Start a worker on the tests' database."""
    database = connection.settings_dict["NAME"]
    with log.open("ab") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "celery", "--app", "builder.celery", "worker", *words],
            env={**os.environ, "DATABASE_URL": f"sqlite:///{database}"},
            cwd=Path(__file__).parents[2],
            stdout=file,
            stderr=file,
        )


@pytest.fixture
def control_worker(tmp_path: Path) -> Iterator[Path]:
    """A control worker on the tests' database; answers its log."""
    log = tmp_path / "worker.log"
    words = ["--queues", "control", "--concurrency", "1", "--schedule", str(tmp_path / "beat")]
    worker = start_worker(log, "--beat", *words)
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


def test_a_spark_worker_killed_in_the_middle_costs_only_that_answer(
    api: Any, local: Any, tmp_path: Path
) -> None:
    log = tmp_path / "spark.log"
    words = ["--queues", "spark", "--pool", "solo"]
    deadline = time.monotonic() + 120

    def check(name: str) -> Any:
        drawn = copy.deepcopy(templates()["word-count"]["graph"])
        drawn["steps"][2]["config"]["condition"] = f"word <> '{name}'"
        return api.post("/check", {"graph": drawn})

    worker = start_worker(log, *words)
    while not check("before")["analyzed"]:
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.2)
    worker.send_signal(signal.SIGSTOP)
    threading.Timer(0.5, worker.kill).start()
    answer = check("meanwhile")
    assert not answer["analyzed"]
    assert answer["problems"] == []
    assert [c["name"] for c in answer["steps"]["counts"]["columns"]] == ["word", "count"]
    worker.wait(10)
    worker = start_worker(log, *words)
    try:
        while not check("after")["analyzed"]:
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        counts = check("after")["steps"]["counts"]["columns"]
        assert [c["type"] for c in counts] == ["string", "bigint"]
    finally:
        worker.terminate()
        worker.wait(timeout=30)
