"""Scenarios deployed through the API give what their files expect, in either mode."""

import uuid
from pathlib import Path

import pytest

from tests.runner import scenario

NAMES = ("word-count", "product-views")
MODES = ("micro_batch", "real_time")
SCENARIOS = Path(__file__).parents[1] / "runner" / "scenarios"


def until_read(headrace, deployment, source, rows):
    """Wait until a source has given (or put aside) so many rows."""

    def check():
        steps = (headrace.deployment(deployment)["metrics"] or {}).get("steps", {})
        read = steps.get(source, {}).get("out", 0) + steps.get(source, {}).get("dropped", 0)
        return None if read >= rows else f"{source} has read {read} of {rows} rows"

    headrace.until(check, 90)


@pytest.fixture(scope="module")
def deployed(headrace):
    """Each scenario in each mode, all starting at once: by name and mode, what was deployed."""
    found = {}
    for name in NAMES:
        for mode in MODES:
            prefix = f"{uuid.uuid4().hex[:6]}-"
            told = scenario.load(SCENARIOS / f"{name}.json", prefix)
            body = {"name": f"{prefix}{name}", "graph": told.graph.meaning()}
            pipeline = headrace.post("/api/pipelines", body)
            (source,) = told.rows
            (topic,) = told.graph.by_id[source].config["topics"]
            headrace.post(f"/api/connections/{headrace.connection}/topics", {"topic": topic})
            body = {"pipeline": pipeline["id"], "mode": mode}
            found[name, mode] = prefix, told, headrace.post("/api/deployments", body)["id"]
    return found


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_deployed_scenario_gives_what_it_should(headrace, deployed, name, mode):
    prefix, told, id_ = deployed[name, mode]
    running = headrace.until_state(id_, "running", 150)
    assert running["segments"][0]["mode"] == mode

    (source,) = told.rows
    config = told.graph.by_id[source].config
    produced = 0
    for batch in told.batches():
        scenario.produce(headrace.servers, config["topics"][0], config, batch[source])
        produced += len(batch[source])
        until_read(headrace, id_, source, produced)
    sink = told.graph.by_id["out"].config["topic"]

    def check():
        rows = scenario.read_all(headrace.servers, [sink])
        return scenario.difference(told.expect["out"], rows, prefix)

    headrace.until(check, 60)
    headrace.post(f"/api/deployments/{id_}/stop")
    headrace.until_state(id_, "stopped", 60)
