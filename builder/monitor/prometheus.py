"""What Prometheus reads: the newest metrics of the deployments that whoever asks may see."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from ninja.errors import AuthenticationError
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from builder.access.identity import identify
from builder.access.permissions import visible
from builder.deployments.models import Deployment, State
from builder.refused import problem_json

Json = dict[str, Any]

_DEPLOYMENT = ("deployment", "pipeline", "folder", "environment")
_STEP = (*_DEPLOYMENT, "step", "type")
_SEGMENT = (*_DEPLOYMENT, "segment", "mode")
_PARTITION = (*_SEGMENT, "topic", "partition")


@require_safe
@never_cache
def prometheus(request: HttpRequest) -> HttpResponse:
    """Answer in Prometheus' text format; a token or session must say who asks."""
    try:
        user = identify(request)
    except AuthenticationError as error:
        answer = problem_json(401, error.message or "Send Authorization: Bearer <token>.")
        answer["WWW-Authenticate"] = "Bearer"
        return answer
    rows = visible(user, Deployment.objects.select_related("pipeline", "version"))
    registry = CollectorRegistry()
    registry.register(_Collector(list(rows)))
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)


class _Collector(Collector):
    def __init__(self, deployments: list[Deployment]) -> None:
        self._deployments = deployments

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        told = _Told()
        for deployment in self._deployments:
            _tell(told, deployment)
        yield from told.families.values()


class _Told:
    """Metrics by name, each made when it is first told of; None is not told."""

    def __init__(self) -> None:
        self.families: dict[str, Metric] = {}

    def gauge(self, name: str, help: str, labels: dict[str, str], value: float | None) -> None:
        self._add(GaugeMetricFamily, name, help, labels, value)

    def counter(self, name: str, help: str, labels: dict[str, str], value: float | None) -> None:
        self._add(CounterMetricFamily, name, help, labels, value)

    def _add(
        self, kind: Any, name: str, help: str, labels: dict[str, str], value: float | None
    ) -> None:
        if value is None:
            return
        name = f"headrace_{name}"
        family = self.families.setdefault(name, kind(name, help, labels=list(labels)))
        family.add_metric(list(labels.values()), value)  # type: ignore[attr-defined]


def _tell(told: _Told, deployment: Deployment) -> None:
    pipeline = deployment.pipeline
    of = dict(
        zip(
            _DEPLOYMENT,
            (str(deployment.pk), pipeline.slug, pipeline.folder, deployment.environment),
            strict=True,
        )
    )
    for state in State.values:
        is_so = float(deployment.state == state)
        told.gauge("deployment_state", "1 for the state it is in", {**of, "state": state}, is_so)
    told.gauge(
        "deployment_version", "The version that runs or should", of, deployment.version.number
    )
    told.counter(
        "deployment_restarts", "Runs begun because the one before crashed or met an outage",
        of, deployment.restarts,
    )  # fmt: skip
    metrics = deployment.metrics
    if not metrics:
        return
    at = datetime.fromisoformat(metrics["at"]).timestamp()
    told.gauge("deployment_told_timestamp_seconds", "When it last told how it does", of, at)
    told.gauge("deployment_rows_per_second", "Rows that its sources give", of, metrics["rate"])
    told.gauge("deployment_lag_records", "Records still to be read", of, metrics.get("lag"))
    told.gauge(
        "deployment_lag_seconds", "Age of the oldest record still to be read",
        of, metrics.get("lag_seconds"),
    )  # fmt: skip
    told.gauge(
        "deployment_latency_seconds", "Median latency of its slowest segment",
        of, _seconds(metrics.get("latency_ms")),
    )  # fmt: skip
    types = {step["id"]: step["type"] for step in deployment.graph["steps"]}
    for id_, step in metrics["steps"].items():
        if id_ in types:
            _tell_step(told, dict(zip(_STEP, (*of.values(), id_, types[id_]), strict=True)), step)
    modes = {segment["id"]: segment["mode"] for segment in deployment.segments}
    for id_, segment in metrics["segments"].items():
        labels = dict(zip(_SEGMENT, (*of.values(), id_, modes.get(id_, "")), strict=True))
        _tell_segment(told, labels, segment)


def _tell_step(told: _Told, of: dict[str, str], step: Json) -> None:
    told.counter("step_rows_in", "Rows that reached a step", of, step.get("in"))
    told.counter("step_rows_out", "Rows that a step gave", of, step.get("out"))
    told.counter(
        "step_rows_dropped", "Rows left out on purpose: unreadable or too late",
        of, step.get("dropped"),
    )  # fmt: skip
    told.counter("step_errors", "Records put aside as dead letters", of, step.get("errors"))
    told.gauge("step_rows_per_second", "Rows that a step gives", of, step.get("rate"))


def _tell_segment(told: _Told, of: dict[str, str], segment: Json) -> None:
    told.gauge(
        "segment_batch_seconds", "How long its newest batch took", of,
        _seconds(segment.get("batch_ms")),
    )  # fmt: skip
    for part, ms in (segment.get("batch_parts") or {}).items():
        told.gauge(
            "segment_batch_part_seconds", "What its newest batch took its time for",
            {**of, "part": part}, _seconds(ms),
        )  # fmt: skip
    for quantile, name in (("0.5", "p50"), ("0.99", "p99")):
        told.gauge(
            "segment_latency_seconds", "From Kafka's time of a record to that of its result",
            {**of, "quantile": quantile}, _seconds((segment.get("latency_ms") or {}).get(name)),
        )  # fmt: skip
    told.gauge("segment_rows_per_second", "Records that it reads", of, segment.get("rate"))
    for name, help in (
        ("lag", "Records still to be read"),
        ("lag_seconds", "Age of the oldest record still to be read"),
    ):
        for key, value in (segment.get(name) or {}).items():
            topic, _, partition = key.rpartition("-")
            labels = dict(zip(_PARTITION, (*of.values(), topic, partition), strict=True))
            unit = "lag_records" if name == "lag" else name
            told.gauge(f"segment_{unit}", help, labels, value)
    told.gauge(
        "segment_watermark_delay_seconds", "How far its watermark is behind", of,
        segment.get("watermark_delay"),
    )  # fmt: skip
    told.gauge("segment_state_rows", "Rows that it remembers", of, segment.get("state_rows"))
    told.gauge("segment_state_bytes", "Memory that its state takes", of, segment.get("state_bytes"))


def _seconds(ms: float | None) -> float | None:
    return None if ms is None else ms / 1000
