"""Send messages to those who listen on websockets."""

import asyncio
import logging
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

# A Redis that accepts and then says nothing must not hold up a request.
SECONDS = 3.0


def send(messages: list[tuple[str, dict[str, Any]]]) -> None:
    """Send each message to its channel group; those who miss one find a gap and ask anew."""

    async def send_all() -> None:
        layer = get_channel_layer()
        for group, message in messages:
            await layer.group_send(group, {**message, "group": group})

    try:
        async_to_sync(asyncio.wait_for)(send_all(), SECONDS)
    except (RedisError, OSError) as error:
        log.warning("Nobody was told, because Redis is away: %r", error)
