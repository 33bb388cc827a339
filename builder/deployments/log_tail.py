"""The end of a log, which may be long."""

import os
from pathlib import Path

LOG_BYTES = 256 * 1024


def tail(path: Path, most: int) -> tuple[list[str], bool]:
    """The last lines of a file, at most so many, and whether there are more; none of no file."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - LOG_BYTES))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return [], False
    found = text.splitlines()
    cut = size > LOG_BYTES or len(found) > most
    if size > LOG_BYTES:
        found = found[1:]
    return found[-most:], cut
