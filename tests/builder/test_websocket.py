"""What a browser is told, and which browsers are."""

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client

from builder.access import actions as access
from builder.asgi import application
from builder.deployments import actions
from builder.deployments.models import Deployment
from builder.pipelines.models import Pipeline
from tests.builder.watching import Watching

pytestmark = pytest.mark.django_db(transaction=True)

HOST = (b"host", b"testserver:8000")
OURS = (b"origin", b"http://testserver:8000")


@pytest.fixture
def deployment(api: Any, local: Any, admin: User) -> Deployment:
    made = api.post("/pipelines", {"template": "word-count"}, 201)
    return actions.deploy(admin, Pipeline.objects.get(pk=made["id"]).pk)[0]


@pytest.fixture
def bearer(api: Any) -> tuple[bytes, bytes]:
    return (b"authorization", api.headers["Authorization"].encode())


@pytest.fixture
def browser(viewer: User) -> Client:
    client = Client()
    client.force_login(viewer)
    return client


def cookie(client: Client) -> tuple[bytes, bytes]:
    return (b"cookie", f"sessionid={client.cookies['sessionid'].value}".encode())


def socket(path: str, *headers: tuple[bytes, bytes]) -> Watching:
    return Watching(application, f"/ws/{path}", headers=[HOST, *headers])


async def opened(path: str, *headers: tuple[bytes, bytes]) -> Watching:
    communicator = socket(path, *headers)
    accepted, code = await communicator.connect()
    assert accepted, code
    return communicator


async def test_a_snapshot_then_events_in_order(
    deployment: Deployment, bearer: Any, admin: User
) -> None:
    watching = await opened(f"deployments/{deployment.pk}", bearer)
    snapshot = await watching.receive()
    assert snapshot["type"] == "snapshot"
    about = snapshot["deployment"]
    assert (about["id"], about["state"], about["desired"]) == (
        str(deployment.pk), "pending", "running",
    )  # fmt: skip
    assert about["graph"]["steps"]
    assert await watching.receive_nothing(0.1)

    await sync_to_async(actions.stop)(admin, deployment.pk)
    event = await watching.receive()
    assert (event["type"], event["seq"]) == ("event", snapshot["seq"] + 1)
    assert (event["event"]["type"], event["event"]["state"]) == ("state", "stopped")
    assert event["event"]["message"]
    await sync_to_async(actions.start)(admin, deployment.pk)
    assert (await watching.receive())["seq"] == snapshot["seq"] + 2

    await watching.send_text('{"type": "snapshot"}')
    anew = await watching.receive()
    assert (anew["type"], anew["seq"]) == ("snapshot", snapshot["seq"] + 2)
    await watching.disconnect()


async def test_the_snapshot_is_what_http_says(
    deployment: Deployment, bearer: Any, api: Any
) -> None:
    watching = await opened(f"deployments/{deployment.pk}", bearer)
    snapshot = (await watching.receive())["deployment"]
    said = await sync_to_async(api.get)(f"/deployments/{deployment.pk}")
    moments = {"created_at", "updated_at"}
    assert {k: v for k, v in snapshot.items() if k not in moments} == {
        k: v for k, v in said.items() if k not in moments
    }
    await watching.disconnect()


async def test_first_state_and_events_make_the_fresh_state(
    deployment: Deployment, bearer: Any, admin: User
) -> None:
    watching = await opened(f"deployments/{deployment.pk}", bearer)
    told = (await watching.receive())["deployment"]
    for wish in (actions.stop, actions.start, actions.restart):
        await sync_to_async(wish)(admin, deployment.pk)
        event = (await watching.receive())["event"]
        told |= {k: event[k] for k in ("state", "message", "step", "desired", "missing_topics")}
    await watching.send_text('{"type": "snapshot"}')
    fresh = (await watching.receive())["deployment"]
    assert {**told, "updated_at": None} == {**fresh, "updated_at": None}
    await watching.disconnect()


async def test_the_list_hears_of_all(deployment: Deployment, bearer: Any, admin: User) -> None:
    watching = await opened("deployments", bearer)
    snapshot = await watching.receive()
    assert [d["id"] for d in snapshot["deployments"]] == [str(deployment.pk)]
    assert "graph" not in snapshot["deployments"][0]
    await sync_to_async(actions.stop)(admin, deployment.pk)
    event = await watching.receive()
    assert event["seq"] == snapshot["seq"] + 1
    assert event["event"]["deployment"] == str(deployment.pk)
    assert event["event"]["state"] == "stopped"
    await watching.disconnect()


async def test_a_browser_of_this_origin(deployment: Deployment, browser: Client) -> None:
    watching = await opened(f"deployments/{deployment.pk}", OURS, cookie(browser))
    assert (await watching.receive())["type"] == "snapshot"
    await watching.disconnect()


@pytest.mark.parametrize(
    "origin",
    [b"http://evil.example", b"http://testserver:9999", b"http://testserver", b"null", None],
)
async def test_a_page_of_another_origin_is_refused(
    origin: bytes | None, deployment: Deployment, browser: Client
) -> None:
    """A foreign page, or none, opens nothing with a browser's cookies."""
    headers = [(b"origin", origin)] if origin else []
    watching = socket(f"deployments/{deployment.pk}", cookie(browser), *headers)
    assert (await watching.connect())[0] is False


async def test_a_host_that_is_not_ours_is_refused(deployment: Deployment, browser: Client) -> None:
    rebound = [(b"host", b"evil.example"), (b"origin", b"http://evil.example"), cookie(browser)]
    watching = Watching(application, f"/ws/deployments/{deployment.pk}", headers=rebound)
    assert (await watching.connect())[0] is False


@pytest.mark.parametrize(
    "headers",
    [
        [OURS],
        [OURS, (b"cookie", b"sessionid=made-up")],
        [(b"authorization", b"Bearer hr_nothing")],
        [(b"authorization", b"Basic YTpi")],
        [],
    ],
)
@pytest.mark.parametrize("path", ["deployments", "deployments/{}"])
async def test_a_stranger_is_refused(path: str, headers: Any, deployment: Deployment) -> None:
    """An anonymous websocket is refused."""
    watching = socket(path.format(deployment.pk), *headers)
    assert (await watching.connect())[0] is False


async def test_what_is_not_there_is_refused(deployment: Deployment, bearer: Any) -> None:
    watching = socket("deployments/00000000-0000-4000-8000-000000000000", bearer)
    assert await watching.connect() == (False, 4404)


async def test_a_revoked_token_closes(deployment: Deployment, bearer: Any, admin: User) -> None:
    """Revoked mid-session: the stream stops."""
    watching = await opened(f"deployments/{deployment.pk}", bearer)
    await watching.receive()
    token = await admin.tokens.afirst()  # type: ignore[attr-defined]
    await sync_to_async(access.revoke_token)(admin, token.pk)
    assert (await watching.receive_output(5))["type"] == "websocket.close"


async def test_logging_out_closes(deployment: Deployment, browser: Client, bearer: Any) -> None:
    watching = await opened("deployments", OURS, cookie(browser))
    other = await opened("deployments", bearer)
    for each in (watching, other):
        await each.receive()
    left = await sync_to_async(browser.post)("/api/logout", content_type="application/json")
    assert left.status_code == 204
    assert (await watching.receive_output(5))["type"] == "websocket.close"
    assert await other.receive_nothing(0.1), "others stay"
    await other.disconnect()


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 3000, '{"type": "other"}', json.dumps("x" * 10_000)]
)
async def test_anything_else_that_is_sent_closes(
    text: str, deployment: Deployment, bearer: Any
) -> None:
    watching = await opened("deployments", bearer)
    await watching.receive()
    await watching.send_text(text)
    closed = await watching.receive_output(5)
    assert (closed["type"], closed["code"]) == ("websocket.close", 4400)
