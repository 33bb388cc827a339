"""Websockets: the present state, then each event as it happens."""

import asyncio
import logging
from collections import Counter
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.contrib.auth import get_user
from django.contrib.auth.models import User
from django.db import OperationalError
from django.db.models import QuerySet
from django.http import HttpRequest
from redis.exceptions import RedisError

from builder.access.actions import access_group, user_of_token
from builder.access.permissions import visible
from builder.deployments.describe import describe, describe_whole, with_names
from builder.deployments.models import Deployment
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

_open: Counter[int] = Counter()


class _Watch(AsyncJsonWebsocketConsumer):
    """What both websockets have in common: who may watch, snapshots on demand, events."""

    group: str
    user: User
    rechecking: asyncio.Task[None]
    holds_place = False
    # The number of the newest event that this websocket has told.
    told: int

    async def connect(self) -> None:
        user = await database_sync_to_async(self._who)()
        if user is None:
            return await self.close(FORBIDDEN)
        if _open[user.pk] >= MOST_SOCKETS:
            return await self.close(TOO_MANY)
        self.user = user
        self.asked: list[float] = []
        self.group = self.group_name()
        _open[user.pk] += 1
        self.holds_place = True
        try:
            await self._begin()
        except BaseException:
            self._free_place()
            raise

    async def _begin(self) -> None:
        # Join before reading: an event in between may come twice, never not at all.
        await self._join()
        snapshot = await database_sync_to_async(self.snapshot)()
        if snapshot is None:
            return await self.leave(NOT_FOUND)
        await self.accept()
        await self.send_json(snapshot)
        self.rechecking = asyncio.create_task(self._recheck())

    async def disconnect(self, code: int) -> None:
        await self._let_go()

    async def leave(self, code: int) -> None:
        """Close for good, and let go of all that is held for this websocket."""
        # First of all, since Redis may be away for the rest.
        await self.close(code)
        await self._let_go()

    async def receive(self, text_data: str | None = None, bytes_data: Any = None, **_: Any) -> None:
        try:
            content = await self.decode_json(text_data or "")
        except (ValueError, RecursionError):
            return await self.leave(UNREADABLE)
        if content != {"type": "snapshot"}:
            return await self.leave(UNREADABLE)
        if self._asks_too_often():
            return await self.leave(TOO_MANY)
        if await self._still_sees():
            await self._send_snapshot()

    async def monitor_event(self, message: dict[str, Any]) -> None:
        await self.send_json({"type": "event", "seq": message["seq"], "event": message["event"]})

    async def send_json(self, content: Any, close: bool = False) -> None:
        """Send a snapshot or an event, and note up to which one has been told."""
        self.told = content["seq"]
        await super().send_json(content, close)

    async def access_changed(self, message: dict[str, Any]) -> None:
        """Close if the session, the token or the right that this websocket stands on is no more."""
        await self._still_sees()

    async def _send_snapshot(self) -> None:
        snapshot = await database_sync_to_async(self.snapshot)()
        if snapshot is None:
            return await self.leave(NOT_FOUND)
        await self.send_json(snapshot)

    async def _recheck(self) -> None:
        """Look again and again whether who watches still may, and misses nothing."""
        newest = 0
        while True:
            await asyncio.sleep(RECHECK_SECONDS)
            try:
                if not await self._still_sees():
                    return
                await self._join()
                # What is newer may still be on its way.
                if self.told < newest:
                    await self._send_snapshot()
                newest = await database_sync_to_async(self.newest)()
            except (RedisError, OSError) as error:
                log.warning("A websocket hears of nothing new, because Redis is away: %s", error)
            except OperationalError as error:
                # Nobody can change rights meanwhile, either.
                log.warning("Who may watch can't be looked up; the database is away: %s", error)
            except Exception:
                log.exception("A websocket is closed, since who may watch can't be told")
                return await self.leave(FORBIDDEN)

    async def _join(self) -> None:
        """Have Redis hand on what is told here; it may have forgotten who listens."""
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self.channel_layer.group_add(access_group(self.user), self.channel_name)

    async def _still_sees(self) -> bool:
        """Whether who watches still may; closes where not."""
        user = await database_sync_to_async(self._who)()
        if user is None:
            await self.leave(FORBIDDEN)
            return False
        self.user = user
        if not await self.look_again():
            await self.leave(NOT_FOUND)
            return False
        return True

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

    async def _let_go(self) -> None:
        if not self._free_place():
            return
        await self.channel_layer.group_discard(self.group, self.channel_name)
        await self.channel_layer.group_discard(access_group(self.user), self.channel_name)

    def _free_place(self) -> bool:
        """End what goes on for this websocket; whether it was still held as open."""
        if not self.holds_place:
            return False
        self.holds_place = False
        _open[self.user.pk] -= 1
        if not _open[self.user.pk]:
            del _open[self.user.pk]
        rechecking = getattr(self, "rechecking", None)
        if rechecking is not None and rechecking is not asyncio.current_task():
            rechecking.cancel()
        return True

    def group_name(self) -> str:
        raise NotImplementedError

    def snapshot(self) -> dict[str, Any] | None:
        raise NotImplementedError

    def newest(self) -> int:
        """The number of the newest event of what is watched."""
        raise NotImplementedError

    async def look_again(self) -> bool:
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

    async def look_again(self) -> bool:
        return await database_sync_to_async(lambda: self._rows().exists())()


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

    async def monitor_event(self, message: dict[str, Any]) -> None:
        id_ = message["event"]["deployment"]
        if id_ not in self.seen and id_ not in self.hidden:
            # One that has just been made.
            ids = await database_sync_to_async(self._visible_ids)(pk=id_)
            (self.seen if ids else self.hidden).add(id_)
        event = {"type": "hidden"} if id_ in self.hidden else message["event"]
        await self.send_json({"type": "event", "seq": message["seq"], "event": event})

    async def look_again(self) -> bool:
        before = self.seen
        self.seen = await database_sync_to_async(self._visible_ids)()
        self.hidden = set()
        if not before <= self.seen:
            await self._send_snapshot()
        return True

    def _visible_ids(self, **lookup: Any) -> set[str]:
        rows = visible(self.user, Deployment.objects.order_by().filter(**lookup))
        return {str(pk) for pk in rows.values_list("pk", flat=True)}
