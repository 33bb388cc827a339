"""Many wishes at once: one run, and the last word holds."""

import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from tests.headrace import Headrace


def ticking(headrace: Headrace) -> str:
    """A pipeline that needs no topic."""
    ticks = {"rows_per_second": 5, "columns": [{"name": "n", "expression": "value"}]}
    graph = {
        "version": 1,
        "steps": [
            {"id": "ticks", "type": "sample_source", "config": ticks},
            {"id": "shown", "type": "console_sink", "config": {"rows": 5}},
        ],
        "edges": [{"from": "ticks", "to": "shown"}],
    }
    name = f"ticks {uuid.uuid4().hex[:6]}"
    made: str = headrace.post("/api/pipelines", {"name": name, "graph": graph})["id"]
    return made


def test_fifty_clicks_are_one_run_and_the_last_word_holds(headrace: Headrace) -> None:
    pipeline = ticking(headrace)

    def click(_: int) -> str:
        return str(headrace.post("/api/deployments", {"pipeline": pipeline})["id"])

    with ThreadPoolExecutor(50) as pool:
        (deployment,) = set(pool.map(click, range(50)))
    headrace.until_state(deployment, "running", 90)
    (run,) = headrace.deployment(deployment)["runs"]
    assert (run["epoch"], run["version"]) == (1, 1)
    assert len(headrace.jobs_of(deployment)) == 1

    begun = time.monotonic()
    for mode in ("micro_batch", None, "auto", None, "micro_batch"):
        if mode is None:
            headrace.post(f"/api/deployments/{deployment}/stop")
        else:
            headrace.post("/api/deployments", {"pipeline": pipeline, "mode": mode})
    assert time.monotonic() - begun < 5

    def only_the_last() -> str | None:
        found = headrace.deployment(deployment)
        live = [run for run in found["runs"] if run["ended_at"] is None]
        holds = found["state"] == "running" and len(live) == 1 and not live[0]["standby"]
        return None if holds else f"{found['state']}: {found['message']}, {live}"

    headrace.until(only_the_last, 120)
    found = headrace.deployment(deployment)
    assert (found["desired"], found["mode"]) == ("running", "micro_batch")
    assert len(headrace.jobs_of(deployment)) == 1

    for path in ("stop", "start", "stop"):
        headrace.post(f"/api/deployments/{deployment}/{path}")
    headrace.until_state(deployment, "stopped", 60)
    assert headrace.jobs_of(deployment) == []
