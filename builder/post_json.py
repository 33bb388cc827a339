"""POST JSON to another server, within a time that nothing can draw out."""

import http.client
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from threading import Timer
from urllib.parse import urlsplit

from builder.connections.addresses import Address, Forbidden, check_host, check_not_ours
from builder.connections.reach import connect

SECONDS = 5.0


class NotTaken(Exception):
    """The other server did not take it; the message says why."""


class NeverTaken(NotTaken):
    """It may not be sent there at all, so that trying again is no use."""


def read_url(text: str) -> Address:
    """The host and port of a URL that somebody wrote. Raises ValueError with a sentence."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError("This is no address; write it as https://host/path.") from None
    if parts.scheme not in ("http", "https") or not host or not text.isascii():
        raise ValueError("Write the address as https://host/path.")
    if any(c <= " " or c == "\x7f" for c in text):
        raise ValueError("An address has no spaces or line breaks.")
    if parts.username is not None or parts.password is not None:
        raise ValueError("Leave name and password out of the address; what is sent is signed.")
    check_host(host)
    return host, port or (443 if parts.scheme == "https" else 80)


def post_json(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    ours: bool = False,
    seconds: float = SECONDS,
) -> int:
    """Send a body and answer the status, always a 2xx. Follows no redirection.

    Where `ours` is true whoever installed Headrace chose the address, else it is checked as that
    of a connection is. Raises NotTaken, after `seconds` at most, name look-up aside.
    """
    try:
        status = _status(url, body, headers, ours, seconds)
    except Forbidden as error:
        raise NeverTaken(str(error)) from None
    except ssl.SSLCertVerificationError as error:
        raise NotTaken(f"its certificate is not trusted: {error.verify_message}") from None
    except TimeoutError:
        raise NotTaken("timed out") from None
    except (OSError, http.client.HTTPException) as error:
        said = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise NotTaken(f"could not be reached: {said}") from None
    if 300 <= status < 400:
        raise NotTaken(f"answered {status}: it leads elsewhere; give the address it leads to")
    if not 200 <= status < 300:
        raise NotTaken(f"answered {status}")
    return status


def _status(url: str, body: bytes, headers: Mapping[str, str], ours: bool, seconds: float) -> int:
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if ours:
        plain = socket.create_connection((host, port), timeout=seconds)
    else:
        check_not_ours(host, port)
        plain = connect(host, port)
    # A server that sends a byte now and then would never be late for a single read.
    late = _Deadline(plain, seconds)
    link = http.client.HTTPConnection(host, port, timeout=seconds)
    try:
        plain.settimeout(seconds)
        link.sock = plain
        if parts.scheme == "https":
            link.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=host)
        path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
        link.request("POST", path, body, {"Content-Type": "application/json", **headers})
        status = link.getresponse().status
    except (OSError, http.client.HTTPException):
        if late.has_come:
            raise TimeoutError from None
        raise
    finally:
        late.cancel()
        link.close()
    if late.has_come:
        # Headers that end because we hung up look like whole ones.
        raise TimeoutError
    return status


class _Deadline:
    """Hangs up when the time is over."""

    def __init__(self, link: socket.socket, seconds: float) -> None:
        # By its number: TLS takes the socket over, and with it the object that was given.
        self.link = link.dup()
        self.has_come = False
        self.timer = Timer(seconds, self._hang_up)
        self.timer.daemon = True
        self.timer.start()

    def _hang_up(self) -> None:
        self.has_come = True
        with suppress(OSError):
            self.link.shutdown(socket.SHUT_RDWR)

    def cancel(self) -> None:
        self.timer.cancel()
        self.link.close()
