"""Websockets: the present state, then each event as it happens."""

from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.contrib.auth import get_user
from django.http import HttpRequest

from builder.access.actions import access_group, user_of_token
from builder.access.permissions import visible
from builder.deployments.describe import describe, describe_whole, with_names
from builder.deployments.models import Deployment
from builder.monitor.tell import LIST, deployment_group, list_seq

NOT_FOUND, FORBIDDEN, UNREADABLE = 4404, 4403, 4400
MOST_LISTED = 200


class _Watch(AsyncJsonWebsocketConsumer):
    """What both websockets have in common: who may watch, snapshots on demand, events."""

    group: str

    async def connect(self) -> None:
        if not self.scope["user"].is_authenticated:
            return await self.close(FORBIDDEN)
        self.group = self.group_name()
        self.mine = access_group(self.scope["user"])
        # Join before reading: an event in between may come twice, never not at all.
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self.channel_layer.group_add(self.mine, self.channel_name)
        snapshot = await database_sync_to_async(self.snapshot)()
        if snapshot is None:
            return await self.close(NOT_FOUND)
        await self.accept()
        await self.send_json(snapshot)

    async def disconnect(self, code: int) -> None:
        if hasattr(self, "group"):
            await self.channel_layer.group_discard(self.group, self.channel_name)
            await self.channel_layer.group_discard(self.mine, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: Any = None, **_: Any) -> None:
        try:
            content = await self.decode_json(text_data or "")
        except (ValueError, RecursionError):
            return await self.close(UNREADABLE)
        if content != {"type": "snapshot"}:
            return await self.close(UNREADABLE)
        snapshot = await database_sync_to_async(self.snapshot)()
        if snapshot is None:
            return await self.close(NOT_FOUND)
        await self.send_json(snapshot)

    async def monitor_event(self, message: dict[str, Any]) -> None:
        await self.send_json({"type": "event", "seq": message["seq"], "event": message["event"]})

    async def access_changed(self, message: dict[str, Any]) -> None:
        """Close if the session or token that this websocket stands on is no more."""
        if not await database_sync_to_async(self._is_still_welcome)():
            await self.close(FORBIDDEN)

    def _is_still_welcome(self) -> bool:
        if "token" in self.scope:
            return user_of_token(self.scope["token"]) is not None
        session = self.scope["session"]
        request = HttpRequest()
        request.session = type(session._wrapped)(session.session_key)
        return get_user(request).is_authenticated

    def group_name(self) -> str:
        raise NotImplementedError

    def snapshot(self) -> dict[str, Any] | None:
        raise NotImplementedError


class DeploymentConsumer(_Watch):
    """One deployment: `{"type": "snapshot", "seq", "deployment"}`, then its events."""

    def group_name(self) -> str:
        return deployment_group(self.scope["url_route"]["kwargs"]["deployment_id"])

    def snapshot(self) -> dict[str, Any] | None:
        id_ = self.scope["url_route"]["kwargs"]["deployment_id"]
        rows = visible(self.scope["user"], with_names(Deployment.objects.filter(pk=id_)))
        deployment = rows.first()
        if deployment is None:
            return None
        return {
            "type": "snapshot",
            "seq": deployment.seq,
            "deployment": describe_whole(deployment),
        }


class DeploymentsConsumer(_Watch):
    """All deployments: `{"type": "snapshot", "seq", "deployments"}`, then their events."""

    def group_name(self) -> str:
        return LIST

    def snapshot(self) -> dict[str, Any] | None:
        # Read before the rows: an event in between comes twice, never not at all.
        seq = list_seq()
        rows = visible(self.scope["user"], with_names(Deployment.objects.all()))
        return {
            "type": "snapshot",
            "seq": seq,
            "deployments": [describe(deployment) for deployment in rows[:MOST_LISTED]],
        }
