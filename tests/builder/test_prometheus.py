"""What Prometheus reads, taken apart by a strict reader of its text format, and by its own."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from builder.access.actions import make_token
from builder.deployments.models import Deployment
from builder.pipelines.models import Pipeline, Version
from tests.builder.conftest import user_with
from tests.builder.test_follow import GRAPH

DASHBOARD = Path(__file__).parents[2] / "docs" / "grafana.json"
NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = rf'({NAME})="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{((?:{LABEL},?)*)\}})? (\S+)$")
METRICS = {
    "at": "2026-11-22T06:00:00+00:00", "rate": 7.5, "lag": 12, "lag_seconds": 1.5,
    "latency_ms": 250.0, "restarts": 2,
    "steps": {
        "lines": {"in": 10, "out": 7, "dropped": 1, "errors": 2, "rate": 7.5},
        "words": {"in": 7, "out": 21, "dropped": 0, "errors": 0, "rate": 22.5},
        "out": {"in": None, "out": 21, "dropped": 0, "errors": 0, "rate": 22.5},
        "gone": {"in": 1, "out": 1, "dropped": 0, "errors": 0, "rate": 0.0},
    },
    "segments": {
        "out": {
            "batch": 3, "batch_ms": 90, "batch_parts": {"plan": 9, "process and write": 60},
            "latency_ms": {"p50": 250.0, "p99": 900.0}, "rate": 7.5,
            "lag": {"the-lines-0": 12, "the-lines-1": None}, "lag_seconds": {"the-lines-0": 1.5},
            "watermark_delay": None, "state_rows": 4, "state_bytes": 4096,
        },
    },
}  # fmt: skip


@pytest.fixture
def deployment(admin: User) -> Deployment:
    pipeline = Pipeline.objects.create(
        name="p", slug="p", folder='so "called" \\ folder', graph=GRAPH, owner=admin
    )
    version = Version.objects.create(pipeline=pipeline, number=3, graph=GRAPH, hash="")
    return Deployment.objects.create(
        pipeline=pipeline, version=version, name="p", graph=GRAPH, script="", state="running",
        segments=[{"id": "out", "mode": "real_time"}], restarts=2, metrics=METRICS,
    )  # fmt: skip


def read(client: Client, user: User) -> str:
    token = make_token(user, "prometheus", scopes=["read"])[1]
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    return answer.content.decode()


def samples(text: str) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """The values by name and labels; refuses whatever the text format does not allow."""
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    kinds: dict[str, str] = {}
    assert not text or text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in kinds, f"{name} is told of in two places"
            kinds[name] = kind
        elif not line.startswith("# HELP "):
            sample = SAMPLE.match(line)
            assert sample, line
            name = sample[1]
            assert kinds[name] == ("counter" if name.endswith("_total") else "gauge")
            labels = tuple(re.findall(LABEL, sample[2] or ""))
            assert labels not in found.setdefault(name, {}), f"{line} is told twice"
            found[name][labels] = float(sample[len(sample.groups())])
    return found


def test_what_prometheus_reads(deployment: Deployment, client: Client, viewer: User) -> None:
    text = read(client, viewer)
    found = samples(text)

    def value(name: str, **labels: str) -> Any:
        (one,) = [
            n for of, n in found[f"headrace_{name}"].items() if labels.items() <= dict(of).items()
        ]
        return one

    assert {dict(of)["step"]: n for of, n in found["headrace_step_rows_out_total"].items()} == {
        "lines": 7, "words": 21, "out": 21,
    }, "steps of the graph, and none that it no longer has"  # fmt: skip
    assert len(found["headrace_step_rows_in_total"]) == 2, "what can't be told is not told"
    assert value("step_rows_dropped_total", step="lines", type="kafka_source") == 1
    assert value("step_errors_total", step="lines") == 2
    assert value("deployment_restarts_total") == 2
    assert value("deployment_state", state="running") == 1
    assert value("deployment_state", state="failed") == 0
    assert value("deployment_latency_seconds", pipeline="p", environment="default") == 0.25
    assert value("segment_latency_seconds", quantile="0.99", mode="real_time") == 0.9
    assert value("segment_lag_records", topic="the-lines", partition="0") == 12
    assert value("segment_batch_part_seconds", part="plan") == 0.009
    assert "headrace_segment_watermark_delay_seconds" not in found
    parsed = {
        (s.name, tuple(s.labels.items())): s.value
        for family in text_string_to_metric_families(text)
        for s in family.samples
    }
    assert len(parsed) == sum(len(of) for of in found.values())
    assert {dict(labels)["folder"] for _, labels in parsed} == {'so "called" \\ folder'}

    Deployment.objects.update(metrics=None)
    assert "headrace_step_rows_out_total" not in samples(read(client, viewer))


def test_who_may_read(deployment: Deployment, client: Client, admin: User) -> None:
    for headers in ({}, {"Authorization": "Bearer nonsense"}):
        refused = client.get("/metrics", headers=headers)
        assert refused.status_code == 401
        assert refused["WWW-Authenticate"] == "Bearer"
    elsewhere = user_with("elsie", "viewer", folder="elsewhere")
    assert samples(read(client, elsewhere)) == {}, "only what one may see"
    client.force_login(admin)
    assert samples(client.get("/metrics").content.decode())
    assert client.post("/metrics").status_code == 405


def test_the_dashboard_asks_for_what_there_is(
    deployment: Deployment, client: Client, admin: User
) -> None:
    METRICS["segments"]["out"]["watermark_delay"] = 1.0  # type: ignore[index]
    Deployment.objects.update(metrics=METRICS)
    there = set(samples(read(client, admin)))
    panels = json.loads(DASHBOARD.read_text())["panels"]
    queries = [t["expr"] for panel in panels for t in panel.get("targets", [])]
    asked = {name for query in queries for name in re.findall(r"headrace_\w+", query)}
    assert asked
    assert asked <= there
