"""How much of the disk deployments take, and how much is left."""

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from builder.deployments.models import Deployment

# Below either of these it is time to act: checkpoints can't be written on a full disk.
LEAST_SHARE = 0.05
LEAST_BYTES = 2**30


@dataclass(frozen=True)
class Room:
    """The disk that the data folder stands on, in bytes."""

    total: int
    free: int

    @property
    def is_low(self) -> bool:
        return self.free < LEAST_BYTES or self.free < LEAST_SHARE * self.total

    def __str__(self) -> str:
        left = f"{in_words(self.free)} of {in_words(self.total)} are free"
        if not self.is_low:
            return f"{left[0].upper()}{left[1:]}."
        return (
            f"The disk is nearly full: {left}. Jobs stop when it is; make room, or let "
            "`manage.py clean` remove more by changing the retention in the administration."
        )


def room() -> Room:
    """How much room there is for the data folder."""
    found = shutil.disk_usage(settings.HEADRACE_DATA)
    return Room(found.total, found.free)


def used(folder: Path) -> int:
    """The bytes in all files of a folder; 0 where there is none. Files may go meanwhile."""
    found = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                found += (Path(root) / name).lstat().st_size
    return found


def usage(deployment: Deployment) -> dict[str, int]:
    """The bytes that a deployment's runs and checkpoints take."""
    return {name: used(deployment.folder / name) for name in ("runs", "checkpoints")}


def in_words(size: float) -> str:
    """Bytes as people write them."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
