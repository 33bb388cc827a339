"""Runs that follow another: one that stands by and takes over, one that begins afresh."""

import json
import uuid
from dataclasses import replace

from tests.runner.scenario import make_topics, read_all, wait_until, write


def changes(lines, out):
    """How often any word's count has changed: two counts, with an internal topic between them."""
    local = {"connection": "local"}
    count = [{"name": "count", "function": "count"}]
    return {
        "version": 1,
        "steps": [
            {"id": "lines", "type": "kafka_source",
             "config": {**local, "topics": [lines], "format": "text"}},
            {"id": "words", "type": "aggregate",
             "config": {"group_by": ["value"], "aggregations": count}},
            {"id": "changed", "type": "to_stream", "config": {}},
            {"id": "changes", "type": "aggregate",
             "config": {"aggregations": [{"name": "changes", "function": "count"}]}},
            {"id": "out", "type": "kafka_sink", "config": {**local, "topic": out}},
        ],
        "edges": [
            {"from": "lines", "to": "words"},
            {"from": "words", "to": "changed"},
            {"from": "changed", "to": "changes"},
            {"from": "changes", "to": "out"},
        ],
    }  # fmt: skip


def test_one_takes_over_from_the_other_and_one_begins_afresh(broker, make_job):
    prefix = uuid.uuid4().hex[:8]
    lines, out = f"{prefix}-lines", f"{prefix}-out"
    make_topics(broker, [lines])
    job = make_job(changes(lines, out), interval="1 minute").start().wait_for("running")
    words = [f"w{n}" for n in range(20)]
    write(broker, lines, words)

    def counted(number):
        def check():
            found = [json.loads(row["_value"])["changes"] for row in read_all(broker, [out])]
            return None if found and max(found) == number else f"{found[-3:]}, not {number}"

        return check

    wait_until(counted(20), 60)

    next_ = replace(job, events=[]).start(standby=True)
    try:
        ready = next_.run / "ready"
        wait_until(lambda: None if ready.exists() else f"{next_.read()}", 60)
        assert job.is_alive
        assert next_.of_type("metrics") == []
        write(broker, lines, words)
        wait_until(counted(40), 30)
        job.stop()
        next_.wait_for("running", 60)
        write(broker, lines, words)
        wait_until(counted(60), 60)
        next_.stop()

        # All over again: were the topic between the two counts still there, or a checkpoint,
        # it would count further.
        next_.start(fresh=True).wait_for("running")
        wait_until(lambda: None if next_.counts["lines"]["in"] == 60 else f"{next_.counts}", 60)
        write(broker, lines, ["one more"])
        next_.wait_for_out("lines", 61)
        next_.stop()
        assert max(json.loads(r["_value"])["changes"] for r in read_all(broker, [out])) == 60
        (changed,) = [t["topic"] for t in job.about["topics"] if t["use"] == "internal"]
        assert len(read_all(broker, [changed])) <= 61 - 40
    finally:
        next_.kill()
