"""Who opens a websocket, and whether this page may."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from channels.auth import AuthMiddlewareStack
from channels.db import database_sync_to_async
from django.conf import settings
from django.http.request import validate_host

from builder.access.actions import user_of_token

App = Callable[[Any, Any, Any], Awaitable[None]]


def identified(app: App) -> App:
    """Wrap a websocket app: `scope["user"]` is who asks, by session or by `Authorization`.

    A browser sends its cookies from any page, so a page must be of this very origin. A program
    sends a token, and no origin.
    """
    by_session = AuthMiddlewareStack(app)

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        headers = {
            name.decode("latin1").lower(): value.decode("latin1")
            for name, value in scope["headers"]
        }
        kind, _, secret = headers.get("authorization", "").partition(" ")
        origin = headers.get("origin")
        if origin is not None and not _is_ours(origin, headers.get("host", "")):
            return await _refuse(send)
        if kind.lower() == "bearer":
            scope["token"] = secret.strip()
            scope["user"] = await database_sync_to_async(user_of_token)(scope["token"])
            if scope["user"] is None:
                return await _refuse(send)
            return await app(scope, receive, send)
        if origin is None:
            return await _refuse(send)
        return await by_session(scope, receive, send)

    return answer


def _is_ours(origin: str, host: str) -> bool:
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    return urlsplit(origin).netloc == host and validate_host(name, settings.ALLOWED_HOSTS)


async def _refuse(send: Any) -> None:
    # Closing before accepting answers the handshake with 403.
    await send({"type": "websocket.close", "code": 4403})
