"""The disk is full in the middle of a batch: nothing half written is ever gone on from."""

import shutil
import subprocess
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.runner.scenario import long, make_topics, read_all, wait_until, write

pytestmark = long

SIZE = 24 * 2**20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, of a few megabytes; only root may make one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", disk]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small disk")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


def word_count(lines: str, counts: str) -> dict:
    local = {"connection": "local"}
    count = [{"name": "count", "function": "count"}]
    return {
        "version": 1,
        "steps": [
            {"id": "lines", "type": "kafka_source",
             "config": {**local, "topics": [lines], "format": "text"}},
            {"id": "words", "type": "explode",
             "config": {"expression": "split(value, ' ')", "as": "word"}},
            {"id": "counts", "type": "aggregate",
             "config": {"group_by": ["word"], "aggregations": count}},
            {"id": "out", "type": "kafka_sink", "config": {**local, "topic": counts}},
        ],
        "edges": [
            {"from": "lines", "to": "words"},
            {"from": "words", "to": "counts"},
            {"from": "counts", "to": "out"},
        ],
    }  # fmt: skip


def fill(file: Path) -> None:
    """Write until nothing more fits onto the disk."""
    with file.open("wb", buffering=0) as out, suppress(OSError):
        while True:
            out.write(b"x" * 4096)
    assert shutil.disk_usage(file.parent).free == 0


def test_counts_stay_exact_over_a_full_disk(broker, make_job, small_disk):
    unique = uuid.uuid4().hex[:8]
    lines, counts = f"lines-{unique}", f"counts-{unique}"
    make_topics(broker, [lines], partitions=1)
    expected: Counter[str] = Counter()

    def produce(name: str) -> None:
        values = [f"all {name}-{n}" for n in range(200)]
        expected.update(word for value in values for word in value.split())
        write(broker, lines, values)

    def differing() -> str | None:
        found = {row["word"]: row["count"] for row in read_all(broker, [counts])}
        wrong = {w: (n, found.get(w)) for w, n in expected.items() if found.get(w) != n}
        return f"expected and found: {list(wrong.items())[:5]}" if wrong else None

    job = make_job(word_count(lines, counts), mode="micro_batch")
    job.about["checkpoints"] = str(small_disk / "checkpoints")
    produce("first")
    job.start().wait_for("running")
    wait_until(differing, 60)

    ballast = small_disk / "ballast"
    fill(ballast)
    produce("second")
    ended = job.wait_for_end(90)
    assert not ended["permanent"], ended
    assert ended["code"] == 75
    assert "The disk is full" in ended["message"]
    # Still full: it ends again, and spoils nothing.
    assert not job.start().wait_for_end(90)["permanent"], job.exit()

    ballast.unlink()
    produce("third")
    job.start().wait_for("running")
    wait_until(differing, 60)
    assert job.stop()["code"] == 0
