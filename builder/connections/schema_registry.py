"""What a schema registry says of itself."""

import base64
import http.client
import json
import ssl
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from builder.connections.addresses import Address
from builder.connections.reach import SECONDS, Step, connect, knocked, looked_up, tls

# Of an answer.
MAX_BYTES = 4 * 1024**2


def test_steps(registry: Mapping[str, Any]) -> Iterator[Step]:
    """Try a registry step by step; a step that fails is the last one."""
    host, port = _address(registry["url"])
    yield from looked_up([(host, port)])
    yield from knocked([(host, port)])
    if registry["url"].startswith("https:"):
        yield tls(host, port)
    try:
        status, body = _subjects(registry, host, port)
    except (OSError, http.client.HTTPException) as error:
        yield Step("Registry", False, f"It does not answer as a registry does: {error}.")
        return
    if status in (401, 403):
        yield Step("Credentials", False, f"The registry refuses us ({status}).")
        return
    if "user" in registry:
        yield Step("Credentials", True, f"{registry['user']} is let in.")
    subjects = _list(body) if status == 200 else None
    if subjects is None:
        yield Step("Registry", False, f"It does not answer as a registry does ({status}).")
        return
    count = len(subjects)
    yield Step("Registry", True, f"{count} subject{'' if count == 1 else 's'} can be seen.")


def _address(url: str) -> Address:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def _subjects(registry: Mapping[str, Any], host: str, port: int) -> tuple[int, bytes]:
    """The answer to the one question that every registry knows. Follows no redirection."""
    plain = connect(host, port)
    link = http.client.HTTPConnection(host, port, timeout=SECONDS)
    link.sock = plain
    if registry["url"].startswith("https:"):
        link.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=host)
    headers = {"Accept": "application/json"}
    if "user" in registry:
        account = f"{registry['user']}:{registry['password']}".encode()
        headers["Authorization"] = f"Basic {base64.b64encode(account).decode()}"
    try:
        link.request("GET", f"{urlsplit(registry['url']).path}/subjects", headers=headers)
        answer = link.getresponse()
        return answer.status, answer.read(MAX_BYTES)
    finally:
        link.close()


def _list(body: bytes) -> list[Any] | None:
    try:
        found = json.loads(body)
    except ValueError:
        return None
    return found if isinstance(found, list) else None
