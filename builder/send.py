"""Send messages to those who listen on websockets."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

# A Redis that accepts and then says nothing must not hold up a request.
SECONDS = 3.0

_kept: ContextVar[asyncio.Runner | None] = ContextVar("kept", default=None)


@contextmanager
def line_kept() -> Iterator[None]:
    """Have this thread send over one line meanwhile: a line for each message takes longer than it.

    Not within a running event loop.
    """
    with asyncio.Runner() as runner:
        before = _kept.set(runner)
        try:
            yield
        finally:
            _kept.reset(before)


def send(messages: list[tuple[str, dict[str, Any]]]) -> None:
    """Send each message to its channel group; those who miss one find a gap and ask anew."""

    async def send_all() -> None:
        layer = get_channel_layer()
        async with asyncio.timeout(SECONDS):
            for group, message in messages:
                await layer.group_send(group, {**message, "group": group})

    runner = _kept.get()
    try:
        if runner is None:
            async_to_sync(send_all)()
        else:
            runner.run(send_all())
    except (RedisError, OSError) as error:
        log.warning("Nobody was told, because Redis is away: %r", error)
