"""Request bodies are cut off before they fill the disk."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

App = Callable[[Any, Any, Any], Awaitable[None]]


def limited(app: App, most: int) -> App:
    """Wrap an ASGI app: a body of more than `most` bytes is answered with 413, unread."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await app(scope, receive, send)
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > most:
            return await _refuse(send)
        taken = 0

        async def receive_some() -> Any:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            # One that does not say its length beforehand is hung up on.
            return message if taken <= most else {"type": "http.disconnect"}

        return await app(scope, receive_some, send)

    return answer


async def _refuse(send: Any) -> None:
    body = {
        "type": "about:blank",
        "title": "Request Entity Too Large",
        "status": 413,
        "detail": "The request is larger than 4 MB.",
    }
    headers = [(b"content-type", b"application/problem+json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
