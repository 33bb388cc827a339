"""What is sent to those who listen on websockets."""

import asyncio
from typing import Any

import pytest
from channels.layers import get_channel_layer

from builder.send import line_kept, send


def connections_so_far(redis_server: str) -> int:
    import redis

    with redis.Redis.from_url(redis_server) as client:
        return int(client.info("stats")["total_connections_received"])


def heard(channel: str, count: int) -> list[int]:
    async def listen() -> list[int]:
        layer = get_channel_layer()
        return [(await layer.receive(channel))["n"] for _ in range(count)]

    return asyncio.run(listen())


def channel_in(group: str) -> str:
    async def join() -> str:
        layer = get_channel_layer()
        channel = str(await layer.new_channel())
        await layer.group_add(group, channel)
        return channel

    return asyncio.run(join())


def test_many_messages_go_over_one_line(redis_server: str) -> None:
    channel = channel_in("watchers")
    before = connections_so_far(redis_server)
    with line_kept():
        for n in range(20):
            send([("watchers", {"type": "event", "n": n})])
    # One of them is who asks.
    assert connections_so_far(redis_server) - before <= 3
    send([("watchers", {"type": "event", "n": 20})])
    assert heard(channel, 21) == list(range(21))


def test_a_redis_that_is_away_is_no_error(settings: Any, caplog: pytest.LogCaptureFixture) -> None:
    layers = settings.CHANNEL_LAYERS["default"]
    config = {**layers["CONFIG"], "hosts": [{"address": "redis://127.0.0.1:9"}]}
    # Channels makes its layers anew where these settings change.
    settings.CHANNEL_LAYERS = {"default": {**layers, "CONFIG": config}}
    with line_kept():
        send([("watchers", {"type": "event"})])
    assert "Nobody was told, because Redis is away" in caplog.text
