"""A websocket ends with the right that it stands on, however that went."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone
from redis.exceptions import RedisError

from builder.access import actions as access
from builder.access.models import Grant, Token
from builder.asgi import application
from builder.deployments import actions
from builder.deployments.models import Deployment
from builder.monitor import consumers
from builder.pipelines.models import Pipeline
from tests.builder.conftest import user_with
from tests.builder.watching import Watching

pytestmark = pytest.mark.django_db(transaction=True)

SECONDS = 5


@pytest.fixture
def deployment(api: Any, local: Any, admin: User) -> Deployment:
    made = api.post("/pipelines", {"template": "word-count", "folder": "sales"}, 201)
    return actions.deploy(admin, made["id"])[0]


@pytest.fixture
def other(api: Any, local: Any, admin: User, deployment: Deployment) -> Deployment:
    made = api.post("/pipelines", {"template": "word-count", "folder": "else"}, 201)
    return actions.deploy(admin, made["id"])[0]


@pytest.fixture
def seller(db: None) -> User:
    return user_with("sal", "viewer", folder="sales")


async def opened(path: str, user: User) -> Watching:
    """A websocket of a program that acts for the user, after its first snapshot."""
    secret = (await sync_to_async(access.make_token)(user, "socket"))[1]
    headers = [(b"host", b"testserver"), (b"authorization", f"Bearer {secret}".encode())]
    socket = Watching(application, f"/ws/{path}", headers)
    assert (await socket.connect())[0]
    return socket


async def closing_code(socket: Watching) -> int:
    """What it is closed with, within a few seconds."""
    closed = await socket.receive_output(SECONDS)
    assert closed["type"] == "websocket.close", closed
    return int(closed["code"])


def taken_by_the_api(api: Any, user: User) -> None:
    api.delete(f"/grants/{Grant.objects.get(user=user).pk}")


def taken_in_the_database(api: Any, user: User) -> None:
    Grant.objects.filter(user=user).delete()


def switched_off(api: Any, user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def switched_off_in_the_admin(api: Any, user: User) -> None:
    browser = Client()
    browser.force_login(api.user)
    form = {"username": user.username, "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    assert browser.post(f"/admin/auth/user/{user.pk}/change/", form).status_code == 302
    user.refresh_from_db()
    assert not user.is_active


def deleted(api: Any, user: User) -> None:
    access.delete_user(api.user, user)


def moved_away(api: Any, user: User) -> None:
    Pipeline.objects.update(folder="elsewhere")


def expired(api: Any, user: User) -> None:
    Token.objects.filter(user=user).update(expires_at=timezone.now())


GONE, STRANGER = consumers.NOT_FOUND, consumers.FORBIDDEN


@pytest.mark.parametrize(
    ("happens", "code"),
    [
        (taken_by_the_api, GONE), (taken_in_the_database, GONE), (moved_away, GONE),
        (switched_off, STRANGER), (switched_off_in_the_admin, STRANGER), (deleted, STRANGER),
        (expired, STRANGER),
    ],
)  # fmt: skip
async def test_it_closes_soon_after_the_right_is_gone(
    happens: Callable[..., None], code: int, api: Any, deployment: Deployment, seller: User
) -> None:
    """Revoked, moved, switched off, expired: mid-session the stream stops by itself."""
    socket = await opened(f"deployments/{deployment.pk}", seller)
    await socket.receive()
    await sync_to_async(happens)(api, seller)
    assert await closing_code(socket) == code


async def test_what_the_api_takes_away_is_told_at_once(
    api: Any, deployment: Deployment, seller: User, monkeypatch: Any
) -> None:
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 3600)
    socket = await opened(f"deployments/{deployment.pk}", seller)
    await socket.receive()
    await sync_to_async(taken_by_the_api)(api, seller)
    assert await closing_code(socket) == GONE


@pytest.mark.parametrize("way", ["grant", "member", "group"])
async def test_what_a_group_loses_its_users_lose(
    way: str, api: Any, deployment: Deployment, admin: User, monkeypatch: Any
) -> None:
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 3600)
    group = await Group.objects.acreate(name="team")
    user = await User.objects.acreate(username="tim")
    await user.groups.aadd(group)
    grant = await Grant.objects.acreate(role="viewer", group=group)
    socket = await opened(f"deployments/{deployment.pk}", user)
    await socket.receive()
    if way == "grant":
        await sync_to_async(access.revoke)(admin, grant.pk)
    elif way == "member":
        await sync_to_async(access.set_groups)(admin, user, [])
    else:
        await sync_to_async(access.delete_group)(admin, group)
    assert await closing_code(socket) == GONE


async def test_a_snapshot_that_is_asked_for_looks_at_the_right_again(
    api: Any, deployment: Deployment, seller: User, monkeypatch: Any
) -> None:
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 3600)
    socket = await opened(f"deployments/{deployment.pk}", seller)
    await socket.receive()
    await sync_to_async(taken_in_the_database)(api, seller)
    await socket.send_text('{"type": "snapshot"}')
    assert await closing_code(socket) == GONE


async def test_the_list_tells_only_of_what_one_sees(
    api: Any, admin: User, deployment: Deployment, other: Deployment, seller: User
) -> None:
    """Numbers go on without a gap, so that nobody asks in vain for what is not theirs."""
    socket = await opened("deployments", seller)
    snapshot = await socket.receive()
    assert [d["id"] for d in snapshot["deployments"]] == [str(deployment.pk)]
    await sync_to_async(actions.stop)(admin, other.pk)
    await sync_to_async(actions.stop)(admin, deployment.pk)
    hidden, seen = await socket.receive(), await socket.receive()
    assert hidden == {"type": "event", "seq": snapshot["seq"] + 1, "event": {"type": "hidden"}}
    assert seen["seq"] == snapshot["seq"] + 2
    assert seen["event"]["deployment"] == str(deployment.pk)
    # One that is made meanwhile is told of, if it is theirs.
    made = await sync_to_async(api.post)(
        "/pipelines", {"template": "word-count", "folder": "sales"}, 201
    )
    new, _ = await sync_to_async(actions.deploy)(admin, made["id"])
    assert (await socket.receive())["event"]["deployment"] == str(new.pk)
    await socket.disconnect()


async def test_the_list_forgets_what_one_sees_no_more(
    api: Any, deployment: Deployment, seller: User
) -> None:
    socket = await opened("deployments", seller)
    assert len((await socket.receive())["deployments"]) == 1
    await sync_to_async(taken_by_the_api)(api, seller)
    anew = await socket.receive()
    assert (anew["type"], anew["deployments"]) == ("snapshot", [])
    await socket.disconnect()


async def test_a_flood_of_sockets_is_cut_off(
    deployment: Deployment, seller: User, monkeypatch: Any
) -> None:
    """Of one user only so many are open at once; others are let in, and places come free."""
    monkeypatch.setattr(consumers, "MOST_SOCKETS", 3)
    sockets = [await opened("deployments", seller) for _ in range(3)]
    secret = (await sync_to_async(access.make_token)(seller, "more"))[1]
    headers = [(b"host", b"testserver"), (b"authorization", f"Bearer {secret}".encode())]
    more = Watching(application, "/ws/deployments", headers)
    assert await more.connect() == (False, consumers.TOO_MANY)
    colleague = await opened("deployments", await sync_to_async(user_with)("sam", "viewer"))
    await sockets.pop().disconnect()
    sockets += [colleague, await opened("deployments", seller)]
    for socket in sockets:
        await socket.disconnect()
    assert not consumers._open


async def test_one_that_can_not_open_takes_no_place(
    deployment: Deployment, seller: User, settings: Any
) -> None:
    layer = settings.CHANNEL_LAYERS["default"]
    nowhere = {**layer["CONFIG"], "hosts": [{"address": "unix:///nowhere/redis.sock"}]}
    settings.CHANNEL_LAYERS = {"default": {**layer, "CONFIG": nowhere}}
    with pytest.raises(RedisError):
        await opened("deployments", seller)
    assert not consumers._open


async def test_a_flood_of_questions_is_cut_off(deployment: Deployment, seller: User) -> None:
    socket = await opened("deployments", seller)
    for _ in range(consumers.MOST_SNAPSHOTS + 1):
        await socket.send_text(json.dumps({"type": "snapshot"}))
    # Several questions may have one answer.
    while (message := await socket.receive_output(5))["type"] == "websocket.send":
        assert json.loads(message["text"])["type"] == "snapshot"
    assert (message["type"], message["code"]) == ("websocket.close", consumers.TOO_MANY)
