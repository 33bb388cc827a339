"""A job outlives the worker that started it, and is adopted by the next."""

import json
import os
import signal
import uuid

from tests.runner import scenario
from tests.runner.scenario import read_all


def counting(headrace, mode):
    """A deployed count of words from a topic of its own."""
    prefix = uuid.uuid4().hex[:6]
    graph = {
        "version": 1,
        "steps": [
            {"id": "lines", "type": "kafka_source",
             "config": {"connection": "local", "topics": [f"{prefix}-lines"], "format": "text"}},
            {"id": "counts", "type": "aggregate",
             "config": {"group_by": ["value"],
                        "aggregations": [{"name": "count", "function": "count"}]}},
            {"id": "out", "type": "kafka_sink",
             "config": {"connection": "local", "topic": f"{prefix}-counts"}},
        ],
        "edges": [{"from": "lines", "to": "counts"}, {"from": "counts", "to": "out"}],
    }  # fmt: skip
    pipeline = headrace.post("/api/pipelines", {"name": f"{prefix} count", "graph": graph})
    headrace.post(f"/api/connections/{headrace.connection}/topics", {"topic": f"{prefix}-lines"})
    deployed = headrace.post("/api/deployments", {"pipeline": pipeline["id"], "mode": mode})
    return prefix, deployed["id"]


def write(headrace, prefix, words):
    rows = [{"value": word, "_key": word} for word in words]
    scenario.produce(headrace.servers, f"{prefix}-lines", {"format": "text"}, rows)


def newest(headrace, prefix):
    """The newest count of each word."""
    rows = read_all(headrace.servers, [f"{prefix}-counts"])
    return {row["_key"]: json.loads(row["_value"])["count"] for row in rows}


def until_counts(headrace, prefix, expected, seconds=60):
    def check():
        found = newest(headrace, prefix)
        return None if found == expected else f"{found} is not {expected}"

    headrace.until(check, seconds)


def test_a_job_goes_on_without_its_control_worker_and_is_adopted(headrace, page):
    prefix, id_ = counting(headrace, "real_time")
    headrace.until_state(id_, "running", 120)
    write(headrace, prefix, ["a", "b", "a"])
    until_counts(headrace, prefix, {"a": 2, "b": 1})
    page.goto(f"{headrace.url}/deployments/{id_}")
    page.locator("[data-step-id=lines] [data-count='3']").wait_for()

    (job,) = headrace.jobs_of(id_)
    for pid in headrace.pids("control@"):
        os.kill(pid, signal.SIGKILL)
    write(headrace, prefix, ["a", "c"])
    until_counts(headrace, prefix, {"a": 3, "b": 1, "c": 1})

    page.locator("[data-step-id=lines] [data-count='5']").wait_for(timeout=40_000)
    assert headrace.jobs_of(id_) == [job]
    found = headrace.deployment(id_)
    assert (found["state"], len(found["runs"])) == ("running", 1)
    headrace.post(f"/api/deployments/{id_}/stop")
    headrace.until_state(id_, "stopped", 60)
