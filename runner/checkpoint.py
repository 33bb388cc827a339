"""What the files of a query's checkpoint say of how far it has read its topics."""

import json
from collections.abc import Iterator
from pathlib import Path

from runner.metrics import Offsets

# Where a batch reads: the first offset, and the one after the last, None where not yet known.
Reading = dict[str, tuple[int, int | None]]

# As many partitions as a sentence can name.
_MOST = 3


def query_id(checkpoint: Path) -> str | None:
    """The id that Spark has given the query; None before its first start."""
    try:
        return str(json.loads((checkpoint / "metadata").read_text())["id"])
    except FileNotFoundError:
        return None


def newest_offsets(checkpoint: Path) -> Offsets:
    """Where the newest batch that is written down ends, else where the sources began."""
    return _at(checkpoint, max(_batches(checkpoint / "offsets"), default=None))


def unfinished(checkpoint: Path) -> Reading:
    """By topic-partition what was being read and is not yet done with.

    In real time Spark writes down how far a batch goes only as it ends, so the end is None.
    """
    planned, done = _batches(checkpoint / "offsets"), _batches(checkpoint / "commits")
    begin = _at(checkpoint, max(planned & done, default=None))
    if planned <= done:
        return {key: (offset, None) for key, offset in begin.items()}
    end = _at(checkpoint, max(planned))
    return {key: (begin.get(key, 0), to) for key, to in end.items() if to > begin.get(key, 0)}


def described(reading: Reading) -> str:
    """Where a batch read, as a sentence for people; nothing where it read nothing."""
    parts = list(_parts(reading))
    if not parts:
        return ""
    more = f" and {len(parts) - _MOST} more partitions" if len(parts) > _MOST else ""
    return f"It was reading {'; '.join(parts[:_MOST])}{more}."


def _parts(reading: Reading) -> Iterator[str]:
    for key, (begin, end) in sorted(reading.items()):
        topic, _, partition = key.rpartition("-")
        where = f"{topic}, partition {partition}"
        if end is None:
            yield f"{where}, from offset {begin} on"
        elif end == begin + 1:
            yield f"{where}, offset {begin}"
        else:
            yield f"{where}, offsets {begin} to {end - 1}"


def _batches(folder: Path) -> set[int]:
    return {int(path.name) for path in folder.glob("[0-9]*") if path.name.isdecimal()}


def _at(checkpoint: Path, batch: int | None) -> Offsets:
    if batch is not None:
        logs = [checkpoint / "offsets" / str(batch)]
    else:
        logs = sorted(checkpoint.glob("sources/*/0"))
    return {key: offset for log in logs for key, offset in _offsets_in(log.read_text())}


def _offsets_in(text: str) -> Iterator[tuple[str, int]]:
    for line in text.splitlines():
        begin = line.find("{")
        try:
            said = json.loads(line[begin:]) if begin >= 0 else None
        except ValueError:
            continue
        for topic, partitions in (said or {}).items():
            if isinstance(partitions, dict):
                for partition, offset in partitions.items():
                    if isinstance(offset, int) and partition.isdecimal():
                        yield f"{topic}-{partition}", offset
