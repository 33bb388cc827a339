"""What is killed comes back, and counts stay exact."""

import json
import os
import signal
import uuid
from pathlib import Path

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
    return {row["_key"]: json.loads(row["value"])["count"] for row in rows}


def until_counts(headrace, prefix, expected, seconds=60):
    def check():
        found = newest(headrace, prefix)
        return None if found == expected else f"{found} is not {expected}"

    headrace.until(check, seconds)


def rows_in(headrace, id_):
    metrics = headrace.deployment(id_)["metrics"] or {}
    return metrics.get("steps", {}).get("lines", {}).get("out", 0)


def until_shown(headrace, id_, rows):
    """Wait until people can see so many rows counted."""

    def check():
        shown = rows_in(headrace, id_)
        return None if shown >= rows else f"{shown} rows are shown of {rows}"

    headrace.until(check, 60)


def the_job(headrace, id_):
    """The process of a deployment's job."""
    folder = headrace.data / "deployments" / id_ / "runs"
    found = [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdecimal() and is_job(entry, str(folder))
    ]
    assert len(found) == 1, found
    return found[0]


def is_job(process, folder):
    try:
        words = (process / "cmdline").read_bytes().decode().split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return "runner.host" in words and any(word.startswith(folder) for word in words)


def test_a_job_goes_on_without_its_control_worker_and_is_adopted(headrace, page):
    prefix, id_ = counting(headrace, "real_time")
    headrace.until_state(id_, "running", 120)
    write(headrace, prefix, ["a", "b", "a"])
    until_counts(headrace, prefix, {"a": 2, "b": 1})
    page.goto(f"{headrace.url}/deployments/{id_}")
    page.locator("[data-step-id=lines] [data-count='3']").wait_for()

    job = the_job(headrace, id_)
    for pid in headrace.pids("control@"):
        os.kill(pid, signal.SIGKILL)
    write(headrace, prefix, ["a", "c"])
    until_counts(headrace, prefix, {"a": 3, "b": 1, "c": 1})

    page.locator("[data-step-id=lines] [data-count='5']").wait_for(timeout=40_000)
    assert the_job(headrace, id_) == job
    found = headrace.deployment(id_)
    assert (found["state"], len(found["runs"])) == ("running", 1)
    headrace.post(f"/api/deployments/{id_}/stop")
    headrace.until_state(id_, "stopped", 60)


def test_a_killed_job_goes_on_from_its_checkpoint_with_exact_counts(headrace):
    jobs = [counting(headrace, mode) for mode in ("real_time", "micro_batch")]
    for prefix, id_ in jobs:
        headrace.until_state(id_, "running", 120)
        write(headrace, prefix, ["a"] * 50 + ["b"] * 30)
    for prefix, id_ in jobs:
        until_counts(headrace, prefix, {"a": 50, "b": 30})
        until_shown(headrace, id_, 80)
        os.kill(the_job(headrace, id_), signal.SIGKILL)
        write(headrace, prefix, ["a"] * 7 + ["c"])

    for prefix, id_ in jobs:

        def restarted(id_=id_):
            found = headrace.deployment(id_)
            again = found["state"] == "running" and len(found["runs"]) == 2
            return None if again else found["state"]

        headrace.until(restarted, 120)
        until_counts(headrace, prefix, {"a": 57, "b": 30, "c": 1})
        write(headrace, prefix, ["c"])
        until_counts(headrace, prefix, {"a": 57, "b": 30, "c": 2})

        # What people see goes on from where it was; a repeated row may be counted again.
        until_shown(headrace, id_, 89)
        headrace.post(f"/api/deployments/{id_}/stop")
        headrace.until_state(id_, "stopped", 60)
