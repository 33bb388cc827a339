"""What can be said of a folder of files."""

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from builder.connections.connection_types import folder_inside
from builder.connections.reach import Step

# Enough to say that there are many.
MOST = 10_000


def test_steps(root: Mapping[str, Any]) -> Iterator[Step]:
    """Try a folder step by step; a step that fails is the last one."""
    try:
        # Looked at anew: a part of the path may have become a link since it was written.
        folder = folder_inside(root["folder"])
    except ValueError as error:
        yield Step("Folder", False, str(error))
        return
    yield Step("Folder", True, f"{folder} is there.")
    try:
        with os.scandir(folder) as entries:
            count = sum(1 for _ in islice(entries, MOST))
    except OSError as error:
        yield Step("Readable", False, f"It can't be read: {error.strerror}.")
        return
    more = "at least " if count == MOST else ""
    yield Step("Readable", True, f"It has {more}{count} entr{'y' if count == 1 else 'ies'}.")
