"""Redis is away, or accepts and says nothing: writes are taken, and soon answered."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache

from builder.deployments.models import Deployment

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stopped_redis(redis_server: str, data_folder: Path) -> Iterator[None]:
    """The Redis of the tests, halted for a while."""
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(str(data_folder / "redis.sock"))
        credentials = asked.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    pid = int.from_bytes(credentials[:4], "little")
    cache.close()
    os.kill(pid, signal.SIGSTOP)
    yield
    os.kill(pid, signal.SIGCONT)


def test_a_silent_redis_holds_nobody_up(api: Any, local: Any, stopped_redis: None) -> None:
    made = api.post("/pipelines", {"template": "word-count"}, 201)
    begin = time.monotonic()
    answer = api.post("/deployments", {"pipeline": made["id"]}, 201)
    assert answer["desired"] == "running"
    assert time.monotonic() - begin < 15
    assert Deployment.objects.get().state == "pending"
    graph = made["graph"]
    assert api.post("/check", {"graph": graph})["analyzed"] is False
    health = api.get("/health")
    assert (health["status"], health["checks"]["redis"]["ok"]) == ("degraded", False)
