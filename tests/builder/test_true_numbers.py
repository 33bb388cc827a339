"""What a deployment's numbers say is what was done: known rows through real jobs, by the API."""

import json
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builder.connections.models import Connection
from builder.deployments import process
from builder.deployments.models import Deployment, Run
from builder.deployments.reconcile import reconcile
from builder.monitor.follow import follow_run, live_runs
from tests.builder.conftest import Api
from tests.runner import scenario
from tests.runner.scenario import make_topics, wait_until, write

pytestmark = pytest.mark.django_db(transaction=True)

DAY = datetime(2026, 11, 2, 12, tzinfo=UTC)


def graph(sales: str, clicks: str) -> dict[str, Any]:
    """Sales per minute, where what can't be read is skipped; clicks, where it is put aside."""
    columns = [{"name": "till", "type": "string"}, {"name": "at", "type": "timestamp"}]
    source = {"connection": "local", "format": "json", "columns": columns}
    skipping = {**source, "topics": [sales], "event_time": "at", "on_bad_record": "skip"}
    windows = {
        "group_by": ["till"], "grace": "10 seconds",
        "window": {"kind": "tumbling", "size": "1 minute"},
        "aggregations": [{"name": "sales", "function": "count"}],
    }  # fmt: skip
    steps = {
        "sales": ("kafka_source", skipping),
        "open": ("filter", {"condition": "till <> 'shut'"}),
        "minutes": ("aggregate", windows),
        "totals": ("kafka_sink", {"connection": "local", "topic": f"{sales}-totals"}),
        "clicks": ("kafka_source", {**source, "topics": [clicks]}),
        "seen": ("kafka_sink", {"connection": "local", "topic": f"{clicks}-seen"}),
    }  # fmt: skip
    edges = [("sales", "open"), ("open", "minutes"), ("minutes", "totals"), ("clicks", "seen")]
    return {
        "version": 1,
        "steps": [{"id": id_, "type": t, "config": c} for id_, (t, c) in steps.items()],
        "edges": [{"from": a, "to": b} for a, b in edges],
    }


def sale(second: float, till: str = "a") -> str:
    return json.dumps({"till": till, "at": (DAY + timedelta(seconds=second)).isoformat()})


@pytest.fixture
def deployed(api: Api, broker: str) -> Iterator[Callable[..., Any]]:
    """Deploy a graph with batches of five seconds; answers how to ask the API for its metrics."""
    Connection.objects.create(name="local", bootstrap_servers=broker)

    def deploy(drawn: dict[str, Any], mode: str) -> Callable[[], Any]:
        pipeline = api.post("/pipelines", {"name": "sales", "graph": drawn}, 201)
        asked = {"pipeline": pipeline["id"], "mode": mode}
        id_ = api.post("/deployments", asked, 201)["id"]
        deployment = Deployment.objects.get()
        assert mode == "micro_batch" or '"2 minutes"' in deployment.script
        deployment.script = deployment.script.replace('"2 minutes"', '"5 seconds"')
        deployment.save()

        def metrics() -> Any:
            reconcile(deployment.pk)
            for run in live_runs():
                follow_run(run)
            return api.get(f"/deployments/{id_}")["metrics"]

        return metrics

    yield deploy
    for run in Run.objects.filter(ended_at=None).exclude(pid=None).select_related("deployment"):
        process.kill(run)


@pytest.mark.parametrize("mode", ["micro_batch", pytest.param("real_time", marks=scenario.long)])
def test_numbers_are_true(broker: str, api: Api, deployed: Callable[..., Any], mode: str) -> None:
    sales, clicks = (f"{name}-{uuid.uuid4().hex[:8]}" for name in ("sales", "clicks"))
    make_topics(broker, [sales, clicks])
    # 100 sales in two minutes, those of a till that is shut, three records that are no sales.
    write(broker, sales, [sale(n) for n in range(100)] + [sale(0, "shut")] * 7 + ["{", "[]", "x"])
    metrics = deployed(graph(sales, clicks), mode)

    def step(name: str) -> Any:
        told = ((metrics() or {}).get("steps") or {}).get(name) or {}
        return {n: told.get(n) for n in ("in", "out", "dropped", "errors")}

    def until(name: str, **expected: int) -> None:
        wait_until(lambda: None if (is_ := step(name)) | expected == is_ else f"{name}: {is_}", 90)

    until("sales", **{"in": 110}, out=107, dropped=3, errors=0)
    until("open", **{"in": 107}, out=100, dropped=0, errors=0)

    # The watermark passes the first two minutes once a batch has ended that has seen an hour later.
    write(broker, sales, [sale(3600)])
    passed = (DAY + timedelta(seconds=3590)).isoformat()
    watermark = lambda: str(metrics()["segments"]["totals"]["watermark"])  # noqa: E731
    wait_until(lambda: None if watermark()[:19] == passed[:19] else watermark(), 60)
    time.sleep(6 if mode == "real_time" else 1)
    # Forty too late, many of the same minute and till, and one that is not.
    write(broker, sales, [sale(n) for n in range(40)] + [sale(3601)])
    # How many results there are depends on how the rows fell into batches.
    until("minutes", **{"in": 142}, dropped=40, errors=0)
    until("sales", **{"in": 152}, out=149, dropped=3, errors=0)

    write(broker, clicks, [sale(n) for n in range(20)] + ["{no json"] * 5)
    until("clicks", **{"in": 25}, out=20, dropped=0, errors=5)
    until("seen", **{"in": 20}, out=20, dropped=0, errors=0)

    # What took how long, by the times of the records.
    latency = lambda: metrics()["segments"]["seen"]["latency_ms"]  # noqa: E731
    began = time.time()
    while not latency() and time.time() - began < 60:
        write(broker, clicks, [sale(0)])
        time.sleep(0.4)
    assert 0 < latency()["p50"] <= latency()["p99"] < 20_000
    assert metrics()["latency_ms"] < 20_000
    wait_until(lambda: None if metrics()["lag"] == 0 else f"lag {metrics()['lag']}", 30)

    # The history says the same; a rate goes down while it is looked at.
    counts = lambda steps: {i: {n: s[n] for n in s if n != "rate"} for i, s in steps.items()}  # noqa: E731

    def differs() -> str | None:
        points = api.get(f"/deployments/{Deployment.objects.get().pk}/metrics")["points"]
        kept, told = counts(points[-1]["steps"]), counts(metrics()["steps"])
        return None if kept == told else f"{kept} is kept, {told} is told"

    wait_until(differs, 30)
