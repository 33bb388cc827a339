"""Request bodies are cut off before they fill the disk."""

import asyncio
import contextlib
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings

App = Callable[[Any, Any, Any], Awaitable[None]]

# Where people paste and upload rows.
_TAKES_ROWS = re.compile(r"/api/(rows/parse|rehearse|pipelines/[^/]+/test-cases(/[^/]+)?)")
# How long somebody may go on sending what is thrown away.
PATIENCE = 10.0


def most_bytes(path: str) -> int:
    """How large a request to this path may be."""
    most: int = settings.MAX_ROWS_BODY if _TAKES_ROWS.fullmatch(path) else settings.MAX_BODY
    return most


def too_large(path: str) -> str:
    """The sentence for who sends more."""
    return f"The request is larger than {most_bytes(path) // 1024**2} MB."


def limited(app: App) -> App:
    """Wrap an ASGI app: too large a body is answered with 413, and never kept in memory."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await app(scope, receive, send)
        most = most_bytes(scope["path"])
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > most:
            return await _refuse(scope["path"], receive, send)
        taken = 0

        async def receive_some() -> Any:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            # One that does not say its length beforehand is hung up on.
            return message if taken <= most else {"type": "http.disconnect"}

        return await app(scope, receive_some, send)

    return answer


async def _refuse(path: str, receive: Any, send: Any) -> None:
    body = {
        "type": "about:blank",
        "title": "Request Entity Too Large",
        "status": 413,
        "detail": too_large(path),
    }
    headers = [(b"content-type", b"application/problem+json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode(), "more_body": True})
    # Who is hung up on while still sending may never get to read why.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while (await receive()).get("more_body"):
                pass
    await send({"type": "http.response.body", "body": b""})
