"""Scenarios deployed through the API give what their files expect, in either mode."""

import uuid
from pathlib import Path

import pytest

from tests.runner import scenario

SCENARIOS = Path(__file__).parents[1] / "runner" / "scenarios"


def until_read(headrace, deployment, source, rows):
    """Wait until a source has given (or put aside) so many rows."""

    def check():
        steps = (headrace.deployment(deployment)["metrics"] or {}).get("steps", {})
        read = steps.get(source, {}).get("out", 0) + steps.get(source, {}).get("dropped", 0)
        return None if read >= rows else f"{source} has read {read} of {rows} rows"

    headrace.until(check, 30)


@pytest.mark.parametrize("mode", ["micro_batch", "real_time"])
@pytest.mark.parametrize("name", ["word-count", "product-views"])
def test_deployed_scenario_gives_what_it_should(headrace, name, mode):
    prefix = f"{uuid.uuid4().hex[:6]}-"
    told = scenario.load(SCENARIOS / f"{name}.json", prefix)
    graph = told.graph.meaning()
    pipeline = headrace.post("/api/pipelines", {"name": f"{prefix}{name}", "graph": graph})
    (source,) = told.rows
    (topic,) = told.graph.by_id[source].config["topics"]
    headrace.post(f"/api/connections/{headrace.connection}/topics", {"topic": topic})
    deployed = headrace.post("/api/deployments", {"pipeline": pipeline["id"], "mode": mode})
    running = headrace.until_state(deployed["id"], "running")
    assert running["segments"][0]["mode"] == mode

    produced = 0
    for batch in told.batches():
        config = told.graph.by_id[source].config
        scenario.produce(headrace.servers, topic, config, batch[source])
        produced += len(batch[source])
        until_read(headrace, deployed["id"], source, produced)
    sink = told.graph.by_id["out"].config["topic"]

    def check():
        rows = scenario.read_all(headrace.servers, [sink])
        return scenario.difference(told.expect["out"], rows, prefix)

    headrace.until(check, 20)
    headrace.post(f"/api/deployments/{deployed['id']}/stop")
    headrace.until_state(deployed["id"], "stopped", 30)
