"""A websocket client that speaks ASGI straight to the application (Channels' own needs Daphne)."""

import json
from typing import Any

from asgiref.testing import ApplicationCommunicator


class Watching(ApplicationCommunicator):
    """One websocket, from the handshake to its end."""

    def __init__(self, app: Any, path: str, headers: list[tuple[bytes, bytes]]) -> None:
        scope = {
            "type": "websocket", "path": path, "query_string": b"", "headers": headers,
            "subprotocols": [],
        }  # fmt: skip
        super().__init__(app, scope)

    async def connect(self) -> tuple[bool, int | None]:
        """Answer whether it was accepted, else the code it was closed with."""
        await self.send_input({"type": "websocket.connect"})
        answer = await self.receive_output(5)
        if answer["type"] == "websocket.close":
            return False, answer.get("code", 1000)
        assert answer["type"] == "websocket.accept"
        return True, None

    async def send_text(self, text: str) -> None:
        await self.send_input({"type": "websocket.receive", "text": text})

    async def receive(self) -> Any:
        """Answer the next message."""
        message = await self.receive_output(5)
        assert message["type"] == "websocket.send", message
        return json.loads(message["text"])

    async def disconnect(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(5)
