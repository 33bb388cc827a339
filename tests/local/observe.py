"""What tests ask of processes and topics."""

import os
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import Consumer


def gone(pid: int, seconds: float = 15) -> bool:
    """Whether a process ends within some seconds."""

    def is_gone() -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False

    return eventually(is_gone, seconds)


def eventually(true: Callable[[], bool], seconds: float = 30) -> bool:
    """Whether something becomes true within some seconds."""
    end = time.monotonic() + seconds
    while not (found := true()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def read_all(servers: str, topic: str, count: int) -> list[bytes]:
    """The first `count` records of a topic, fewer if they don't come within a minute."""
    start = {"group.id": uuid.uuid4().hex, "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": servers, **start})
    consumer.subscribe([topic])
    end = time.monotonic() + 60
    rows: list[bytes] = []
    while len(rows) < count and time.monotonic() < end:
        message = consumer.poll(0.5)
        if message is not None and message.error() is None and (value := message.value()):
            rows.append(value)
    consumer.close()
    return rows


def processes_of(data: Path) -> list[int]:
    """The processes on this machine that were started for a data folder."""
    mark = b"HEADRACE_DATA=" + os.fsencode(data)
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
    return found
