"""Scenarios deployed through the API give what their files expect, in either mode."""

import uuid
from pathlib import Path

import pytest

from tests.runner import scenario

# Those of several segments in the mode that Headrace chooses: real-time, wherever it can be.
CASES = [
    ("word-count", "micro_batch"),
    ("word-count", "real_time"),
    ("product-views", "real_time"),
    ("inventory", "auto"),
]
SCENARIOS = Path(__file__).parents[1] / "runner" / "scenarios"


def until_read(headrace, deployment, source, rows):
    """Wait until a source has given (or put aside) so many rows."""

    def check():
        steps = (headrace.deployment(deployment)["metrics"] or {}).get("steps", {})
        read = steps.get(source, {}).get("in", 0)
        return None if read >= rows else f"{source} has read {read} of {rows} rows"

    headrace.until(check, 90)


@pytest.fixture(scope="module")
def deployed(headrace):
    """Each scenario in each mode, all starting at once: by name and mode, what was deployed."""
    found = {}
    for name, mode in CASES:
        prefix = f"{uuid.uuid4().hex[:6]}-"
        told = scenario.load(SCENARIOS / f"{name}.json", prefix)
        body = {"name": f"{prefix}{name}", "graph": told.graph.meaning()}
        pipeline = headrace.post("/api/pipelines", body)
        for source in told.rows:
            (topic,) = told.graph.by_id[source].config["topics"]
            headrace.post(f"/api/connections/{headrace.connection}/topics", {"topic": topic})
        body = {"pipeline": pipeline["id"], "mode": mode}
        found[name, mode] = prefix, told, headrace.post("/api/deployments", body)["id"]
    return found


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_deployed_scenario_gives_what_it_should(headrace, deployed, name, mode):
    prefix, told, id_ = deployed[name, mode]
    running = headrace.until_state(id_, "running", 150)
    assert running["segments"][0]["mode"] == ("real_time" if mode == "auto" else mode)

    produced = dict.fromkeys(told.rows, 0)
    for batch in told.batches():
        for source, rows in batch.items():
            config = told.graph.by_id[source].config
            scenario.produce(headrace.servers, config["topics"][0], config, rows)
            produced[source] += len(rows)
        for source, count in produced.items():
            until_read(headrace, id_, source, count)

    def check():
        for sink, expect in told.expect.items():
            rows = scenario.read_all(headrace.servers, [told.graph.by_id[sink].config["topic"]])
            if difference := scenario.difference(expect, rows, prefix):
                return difference
        return None

    headrace.until(check, 60)
    headrace.post(f"/api/deployments/{id_}/stop")
    headrace.until_state(id_, "stopped", 60)
