"""Redis forgets everything: what is so stands in the database, and pages hear of it again."""

from typing import Any

import pytest
import redis
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from builder.asgi import application
from builder.deployments import actions
from builder.deployments.models import Deployment
from builder.monitor import consumers
from builder.monitor.tasks import follow_all
from tests.builder.watching import Watching

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def deployment(api: Any, local: Any, admin: User) -> Deployment:
    made = api.post("/pipelines", {"template": "word-count"}, 201)
    return actions.deploy(admin, made["id"])[0]


def flush(url: str) -> None:
    client = redis.Redis.from_url(url)
    client.flushall()
    assert client.dbsize() == 0
    client.close()


def test_nothing_is_lost(
    api: Any, admin: User, client: Client, deployment: Deployment, redis_server: str
) -> None:
    client.force_login(admin)
    before = api.get(f"/deployments/{deployment.pk}")
    cache.set("worker:control", True)
    flush(redis_server)
    assert api.get(f"/deployments/{deployment.pk}") == before
    assert client.get("/api/me").status_code == 200, "sessions stand in the database"
    assert not api.get("/health")["checks"]["control_worker"]["ok"]
    follow_all()
    assert api.post(f"/deployments/{deployment.pk}/stop")["desired"] == "stopped"


@pytest.mark.parametrize("path", ["deployments", "deployments/{id}"])
async def test_an_open_page_hears_of_all_that_it_missed(
    path: str, api: Any, admin: User, deployment: Deployment, redis_server: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 0.5)
    headers = [
        (b"host", b"testserver"), (b"authorization", api.headers["Authorization"].encode()),
    ]  # fmt: skip
    page = Watching(application, f"/ws/{path.format(id=deployment.pk)}", headers)
    assert (await page.connect())[0]
    first = await page.receive()
    assert first["type"] == "snapshot"

    await sync_to_async(flush)(redis_server)
    # Told to nobody: Redis does not know who listens.
    await sync_to_async(actions.stop)(admin, deployment.pk)
    caught_up = await page.receive()
    assert caught_up["type"] == "snapshot"
    assert caught_up["seq"] > first["seq"]
    about = caught_up.get("deployment") or caught_up["deployments"][0]
    assert about["desired"] == "stopped"

    await sync_to_async(actions.start)(admin, deployment.pk)
    told = await page.receive()
    assert (told["type"], told["seq"]) == ("event", caught_up["seq"] + 1)
    await page.disconnect()
