"""A job that floods its log fills no disk."""

from runner.host import MAX_LOG
from tests.runner.scenario import make_topics, wait_until


def test_a_log_is_rotated_while_it_is_written(broker, make_job):
    flood = f"""
import os
for _ in range({3 * MAX_LOG // 2**20}):
    os.write(1, b"x" * 2**20)
import time
time.sleep(3)
for _ in range({MAX_LOG // 2**20 // 2}):
    os.write(1, b"y" * 2**20)
time.sleep(600)
"""
    graph = {
        "version": 1,
        "steps": [
            {"id": "lines", "type": "kafka_source",
             "config": {"connection": "local", "topics": ["flood"], "format": "text"}},
            {"id": "out", "type": "kafka_sink", "config": {"connection": "local", "topic": "f"}},
        ],
        "edges": [{"from": "lines", "to": "out"}],
    }  # fmt: skip
    make_topics(broker, ["flood"])
    job = make_job(graph, change=lambda script: flood).start()
    log, former = job.run / "log.txt", job.run / "log.1.txt"

    def rotated():
        if not former.exists() or log.stat().st_size > MAX_LOG:
            return f"{[(p.name, p.stat().st_size) for p in job.run.iterdir()]}"
        return None if b"y" in log.read_bytes()[-10:] else "the second flood has not come"

    wait_until(rotated, 60)
    assert job.is_alive
    kept = sum(path.stat().st_size for path in (log, former))
    # One second of a flood more, at most, until it is seen.
    assert kept < 5 * MAX_LOG
    job.stop()
