"""How many tasks of a job run all the time: in real-time mode they never end."""

from collections.abc import Mapping
from typing import Any

# Spark's `shuffle.partitions`, which the program sets.
SHUFFLED = 2


def slots(segment: Mapping[str, Any], partitions: Mapping[str, int]) -> int:
    """The tasks that a segment needs at once, by the partitions that each step reads.

    Batches come and go and need none of their own. Real-time mode has a task for each partition
    that is read and for each that rows are shuffled into.
    """
    if segment["mode"] != "real_time":
        return 0
    read = sum(partitions.get(id_, 0) for id_ in [*segment["steps"], *segment["receives"]])
    return read + SHUFFLED * int(segment["shuffles"])
