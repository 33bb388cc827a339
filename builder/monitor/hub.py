"""What is told through Redis, heard once in each process and handed to those who watch there.

A channel of its own for every websocket would have each message pass through Redis' answer, a
task and a queue once per websocket; fifty browsers on twenty deployments kept a processor busy
with that alone.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from channels.layers import channel_layers
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

AWAY_SECONDS = 1.0


class Watcher(Protocol):
    """Somebody who is told what happens in groups."""

    def hear(self, message: dict[str, Any]) -> None:
        """Take in a message of a group; returns at once."""


class Hub:
    """Those who watch in this process, by group."""

    def __init__(self) -> None:
        self._watchers: dict[str, set[Watcher]] = {}
        # A layer of its own: all channels of one are read from one list in Redis, where a reader
        # of an event loop that has just ended could take a message that is for this one.
        self._layer = channel_layers.make_backend("default")
        self._joining = asyncio.Lock()
        self._channel = ""
        self._listening: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def watching(self, watcher: Watcher, *groups: str) -> AsyncIterator[None]:
        """Have the watcher told what happens in these groups. Raises RedisError at the begin."""
        try:
            for group in groups:
                self._watchers.setdefault(group, set()).add(watcher)
            await self._join(groups)
            yield
        finally:
            for group in groups:
                self._watchers[group].discard(watcher)
            await self._leave(groups)

    async def rejoin(self, group: str) -> None:
        """Have a group told here again: Redis may have been emptied, and knows nobody then."""
        with suppress(RedisError, OSError):
            # Whoever listens says that it is away.
            await self._join((group,))

    async def _join(self, groups: tuple[str, ...]) -> None:
        async with self._joining:
            if self._listening is None:
                self._channel = await self._layer.new_channel()
                self._listening = asyncio.create_task(self._listen())
            for group in groups:
                await self._layer.group_add(group, self._channel)

    async def _leave(self, groups: tuple[str, ...]) -> None:
        async with self._joining:
            for group in groups:
                # Somebody may have joined meanwhile.
                if not self._watchers.get(group, True):
                    del self._watchers[group]
                    with suppress(RedisError, OSError):
                        await self._layer.group_discard(group, self._channel)
            if not self._watchers and self._listening is not None:
                self._listening.cancel()
                self._listening = None

    async def _listen(self) -> None:
        while True:
            try:
                message = await self._layer.receive(self._channel)
            except (RedisError, OSError) as error:
                log.warning("Websockets hear of nothing new, because Redis is away: %s", error)
                await asyncio.sleep(AWAY_SECONDS)
                continue
            for watcher in tuple(self._watchers.get(message["group"], ())):
                watcher.hear(message)


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of this process, or rather of its event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub()
    return _hubs[loop]
