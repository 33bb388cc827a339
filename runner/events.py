"""A run's events: the job process appends them to a file, others read on from where they were."""

import json
import os
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

Event = dict[str, Any]

# A job that runs for months must not fill the disk: of its events the newest 16 to 32 MB stay.
LIMIT = 16 * 2**20
# The empty file by which a run that stands by says that only the checkpoints are missing.
READY = "ready"
_CHUNK = 4 * 2**20
# First line of a file that another one preceded; readers never see it.
_BEGIN = "begin"


class EventLog:
    """Appends events as JSON lines, from any thread.

    A file that has reached `limit` bytes becomes `events.1.jsonl` and a new one begins. Offsets
    go on counting over the change: they are bytes since the run began.
    """

    def __init__(self, path: Path, limit: int = LIMIT) -> None:
        self.path = path
        self._limit = limit
        self._lock = threading.Lock()
        self._file: BinaryIO = path.open("ab")
        self._began = 0

    def write(self, event: Mapping[str, Any]) -> None:
        """Append one event, with the time, and hand it to the system at once."""
        line = _line({"at": datetime.now(UTC).isoformat(timespec="milliseconds"), **event})
        with self._lock:
            if self._file.tell() + len(line) > self._limit and self._file.tell():
                self._begin_anew()
            self._file.write(line)
            self._file.flush()

    def touch(self) -> None:
        """Say that the process lives though nothing happens: renew the file's time of change."""
        os.utime(self.path)

    def _begin_anew(self) -> None:
        self._began += self._file.tell()
        self._file.close()
        self.path.rename(_former(self.path))
        self._file = self.path.open("ab")
        self._file.write(_line({"type": _BEGIN, "offset": self._began}))


def read_events(path: Path, offset: int) -> tuple[list[Event], int]:
    """Return the events from `offset` (bytes since the run began) on, and where to go on from.

    Only complete lines are taken; of a long file up to some 4 MB, so ask again until nothing
    comes. A file that is not there has no events. A line that is no event is reported as a
    `log` event in its place. Events that have been rotated away are skipped.
    """
    files: list[tuple[int, BinaryIO]] = []
    # The newer file first: were it opened second, a rotation in between would hide the older.
    for file in (path, _former(path)):
        try:
            stream: BinaryIO = file.open("rb")
        except FileNotFoundError:
            continue
        files.append((_began(stream), stream))
    events: list[Event] = []
    try:
        for i, (began, stream) in reversed(list(enumerate(files))):
            if i > 0 and (began >= files[0][0] or offset >= files[0][0]):
                continue
            offset = max(offset, began)
            stream.seek(offset - began)
            lines = _complete_lines(stream)
            events += [e for e in map(_event, lines.splitlines()) if e["type"] != _BEGIN]
            offset += len(lines)
            if events:
                break
    finally:
        for _, stream in files:
            stream.close()
    return events, offset


def _former(path: Path) -> Path:
    return path.with_name(f"{path.stem}.1{path.suffix}")


def _line(event: Mapping[str, Any]) -> bytes:
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


def _began(stream: BinaryIO) -> int:
    first = stream.readline(200)
    if not first.startswith(b'{"type":"begin"'):
        return 0
    return int(json.loads(first)["offset"])


def _complete_lines(stream: BinaryIO) -> bytes:
    data = b""
    while chunk := stream.read(_CHUNK):
        data += chunk
        if b"\n" in chunk:
            break
    return data[: data.rfind(b"\n") + 1]


def _event(line: bytes) -> Event:
    try:
        event = json.loads(line)
    except ValueError:
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        message = f"A line of the events can't be read: {line[:200].decode(errors='replace')}"
        return {"type": "log", "level": "error", "message": message, "at": None}
    return event
