"""Websockets: the present state, then each event as it happens."""

import asyncio
import json
import logging
from bisect import insort
from collections import Counter
from contextlib import suppress
from math import inf
from operator import itemgetter
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.contrib.auth import get_user
from django.contrib.auth.models import User
from django.db import OperationalError
from django.db.models import QuerySet
from django.http import HttpRequest

from builder.access.actions import access_group, user_of_token
from builder.access.permissions import visible
from builder.deployments.describe import describe, describe_whole, with_names
from builder.deployments.models import Deployment
from builder.monitor.hub import hub
from builder.monitor.tell import LIST, deployment_group, list_seq

log = logging.getLogger(__name__)

NOT_FOUND, FORBIDDEN, UNREADABLE, TOO_MANY = 4404, 4403, 4400, 4429
MOST_LISTED = 200
# Who may watch is told at once where a right changes, and looked up this often, since what was
# told may be lost.
RECHECK_SECONDS = 3.0
# Of one user, in this process; a tab of the browser has two at most.
MOST_SOCKETS = 100
# Snapshots that one websocket may ask for within ten seconds.
MOST_SNAPSHOTS = 40
SNAPSHOT_SECONDS = 10.0
# How long an event waits for one before it, which another process may have told a moment later.
PATIENCE_SECONDS = 0.2
# Events that wait for a websocket whose other end is slow.
MOST_PENDING = 100

_open: Counter[int] = Counter()


class _Watch(AsyncJsonWebsocketConsumer):
    """What both websockets have in common: who may watch, snapshots on demand, events.

    One task writes to a websocket, an event or a snapshot at a time. Who takes in too slowly
    is told a new snapshot in place of the events that have piled up.
    """

    # What is told comes by the hub.
    channel_layer_alias = "none"
    user: User
    serving: asyncio.Task[None]
    holds_place = False

    async def connect(self) -> None:
        user = await database_sync_to_async(self._who)()
        if user is None:
            return await self.close(FORBIDDEN)
        if _open[user.pk] >= MOST_SOCKETS:
            return await self.close(TOO_MANY)
        self.user = user
        self.asked: list[float] = []
        self.pending: list[dict[str, Any]] = []
        self.patient_until = inf
        self.wants_snapshot, self.must_look = False, False
        self.woken = asyncio.Event()
        # The number of the newest event that was told.
        self.told = 0
        _open[user.pk] += 1
        self.holds_place = True
        begun = asyncio.get_running_loop().create_future()
        self.serving = asyncio.create_task(self._serve(begun))
        try:
            await begun
        except BaseException:
            self._free_place()
            raise

    async def disconnect(self, code: int) -> None:
        self._free_place()

    async def leave(self, code: int) -> None:
        """Close for good, and let go of all that is held for this websocket."""
        await self.close(code)
        self._free_place()

    async def receive(self, text_data: str | None = None, bytes_data: Any = None, **_: Any) -> None:
        try:
            content = await self.decode_json(text_data or "")
        except (ValueError, RecursionError):
            return await self.leave(UNREADABLE)
        if content != {"type": "snapshot"}:
            return await self.leave(UNREADABLE)
        if self._asks_too_often():
            return await self.leave(TOO_MANY)
        self.must_look = self.wants_snapshot = True
        self.woken.set()

    def hear(self, message: dict[str, Any]) -> None:
        """Take in an event, or that the rights of this user have changed."""
        if message["type"] == "access":
            self.must_look = True
        elif len(self.pending) < MOST_PENDING:
            insort(self.pending, message, key=itemgetter("seq"))
        else:
            self.pending.clear()
            self.wants_snapshot = True
        self.woken.set()

    async def _serve(self, begun: "asyncio.Future[None]") -> None:
        """Tell all that is to be told, for as long as the websocket is open."""
        try:
            groups = self.group_name(), access_group(self.user)
            # Join before reading: an event in between may come twice, never not at all.
            async with hub().watching(self, *groups):
                snapshot = await database_sync_to_async(self.snapshot)()
                if snapshot is None:
                    return await self.leave(NOT_FOUND)
                await self.accept()
                await self._tell(snapshot["seq"], json.dumps(snapshot))
                begun.set_result(None)
                await self._tell_on()
        except Exception as error:
            if not begun.done():
                begun.set_exception(error)
                return
            log.exception("A websocket is closed, since it can't be told any more")
            await self.leave(FORBIDDEN)
        finally:
            if not begun.done():
                begun.set_result(None)

    async def _tell_on(self) -> None:
        loop = asyncio.get_running_loop()
        newest, due = 0, loop.time() + RECHECK_SECONDS
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(min(due, self.patient_until)):
                    await self.woken.wait()
            self.woken.clear()
            try:
                if self.must_look or loop.time() >= due:
                    self.must_look = False
                    code, there = await database_sync_to_async(self._look)()
                    if code is not None:
                        return await self.leave(code)
                    if loop.time() >= due:
                        due = loop.time() + RECHECK_SECONDS
                        # What is newer may still be on its way.
                        if self.told < newest:
                            self.wants_snapshot = True
                            await hub().rejoin(self.group_name())
                        newest = there
                if self.wants_snapshot:
                    self.wants_snapshot = False
                    await self._tell_snapshot()
                while self.pending and self._may_tell() and loop.time() < due:
                    message = self.pending.pop(0)
                    if message["seq"] > self.told:
                        await self._tell(message["seq"], await self.text_of(message))
            except OperationalError as error:
                # Nobody can change rights meanwhile, either.
                log.warning("Who may watch can't be looked up; the database is away: %s", error)
                due = loop.time() + RECHECK_SECONDS
            if self.wants_snapshot or self.must_look:
                self.woken.set()

    def _may_tell(self) -> bool:
        """Whether the first of what waits comes next: one that it overtook may be on its way."""
        if self.wants_snapshot or self.must_look:
            return False
        now = asyncio.get_running_loop().time()
        if self.pending[0]["seq"] <= self.told + 1:
            self.patient_until = inf
            return True
        if self.patient_until == inf:
            self.patient_until = now + PATIENCE_SECONDS
        elif now >= self.patient_until:
            self.patient_until = inf
            self.wants_snapshot = True
        return False

    async def _tell(self, seq: int, text: str) -> None:
        self.told = seq
        await self.send(text)

    async def _tell_snapshot(self) -> None:
        snapshot = await database_sync_to_async(self.snapshot)()
        if snapshot is None:
            return await self.leave(NOT_FOUND)
        await self._tell(snapshot["seq"], json.dumps(snapshot))

    async def text_of(self, message: dict[str, Any]) -> str:
        """The event as this user is told of it."""
        return str(message["text"])

    def _look(self) -> tuple[int | None, int]:
        """What to close with where who watches may not any more, and the newest number."""
        user = self._who()
        if user is None:
            return FORBIDDEN, 0
        self.user = user
        return (None, self.newest()) if self.look_again() else (NOT_FOUND, 0)

    def _who(self) -> User | None:
        """Who watches, read anew: by the token or the session that this websocket came with."""
        if "token" in self.scope:
            return user_of_token(self.scope["token"])
        session = self.scope["session"]
        request = HttpRequest()
        request.session = type(session._wrapped)(session.session_key)
        user = get_user(request)
        return user if isinstance(user, User) else None

    def _asks_too_often(self) -> bool:
        now = asyncio.get_running_loop().time()
        self.asked = [at for at in self.asked if at > now - SNAPSHOT_SECONDS] + [now]
        return len(self.asked) > MOST_SNAPSHOTS

    def _free_place(self) -> None:
        """End what goes on for this websocket."""
        if not self.holds_place:
            return
        self.holds_place = False
        _open[self.user.pk] -= 1
        if not _open[self.user.pk]:
            del _open[self.user.pk]
        if self.serving is not asyncio.current_task():
            self.serving.cancel()

    def group_name(self) -> str:
        raise NotImplementedError

    def snapshot(self) -> dict[str, Any] | None:
        raise NotImplementedError

    def newest(self) -> int:
        """The number of the newest event of what is watched."""
        raise NotImplementedError

    def look_again(self) -> bool:
        """Whether what is watched may still be seen, now that rights may have changed."""
        raise NotImplementedError


class DeploymentConsumer(_Watch):
    """One deployment: `{"type": "snapshot", "seq", "deployment"}`, then its events."""

    def group_name(self) -> str:
        return deployment_group(self._id)

    @property
    def _id(self) -> Any:
        return self.scope["url_route"]["kwargs"]["deployment_id"]

    def _rows(self) -> QuerySet[Deployment]:
        return visible(self.user, Deployment.objects.filter(pk=self._id))

    def snapshot(self) -> dict[str, Any] | None:
        deployment = with_names(self._rows()).first()
        if deployment is None:
            return None
        return {
            "type": "snapshot",
            "seq": deployment.seq,
            "deployment": describe_whole(deployment),
        }

    def newest(self) -> int:
        return self._rows().values_list("seq", flat=True).first() or 0

    def look_again(self) -> bool:
        return self._rows().exists()


class DeploymentsConsumer(_Watch):
    """All deployments: `{"type": "snapshot", "seq", "deployments"}`, then their events.

    An event of a deployment that this user may not see is told as `{"type": "hidden"}`, so that
    its number is not missed.
    """

    def group_name(self) -> str:
        return LIST

    def snapshot(self) -> dict[str, Any] | None:
        # Read before the rows: an event in between comes twice, never not at all.
        seq = list_seq()
        self.seen = self._visible_ids()
        self.hidden: set[str] = set()
        rows = visible(self.user, with_names(Deployment.objects.all()))
        return {
            "type": "snapshot",
            "seq": seq,
            "deployments": [describe(deployment) for deployment in rows[:MOST_LISTED]],
        }

    def newest(self) -> int:
        return list_seq()

    async def text_of(self, message: dict[str, Any]) -> str:
        id_ = message["deployment"]
        if id_ not in self.seen and id_ not in self.hidden:
            # One that has just been made.
            ids = await database_sync_to_async(self._visible_ids)(pk=id_)
            (self.seen if ids else self.hidden).add(id_)
        if id_ in self.seen:
            return str(message["text"])
        return json.dumps({"type": "event", "seq": message["seq"], "event": {"type": "hidden"}})

    def look_again(self) -> bool:
        before = self.seen
        self.seen = self._visible_ids()
        self.hidden = set()
        self.wants_snapshot |= not before <= self.seen
        return True

    def _visible_ids(self, **lookup: Any) -> set[str]:
        rows = visible(self.user, Deployment.objects.order_by().filter(**lookup))
        return {str(pk) for pk in rows.values_list("pk", flat=True)}
