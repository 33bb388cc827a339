"""A run as events of OpenLineage: that it starts, that it runs, how it ended."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from importlib.metadata import version
from typing import Any

from django.conf import settings

from builder.connections.models import Connection
from builder.deployments.models import Run, State
from builder.environments.models import rows_in
from runner.check import check, inputs_of
from runner.graph import Graph, read_graph
from runner.problems import InvalidGraph
from runner.rows import Column, Rows
from runner.steps.kafka_records import KafkaRecords
from runner.steps.kafka_sink import KafkaSink
from runner.steps.kafka_source import KafkaSource

Json = dict[str, Any]
# By namespace and name.
_Datasets = dict[tuple[str, str], Json]

PRODUCER = "https://pypi.org/project/headrace/"
_SPEC = "https://openlineage.io/spec"
_RUN_EVENT = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"
# Which version of each facet is written.
_FACETS = {
    "ErrorMessageRunFacet": "1-0-1",
    "JobTypeJobFacet": "2-0-4",
    "ProcessingEngineRunFacet": "1-1-1",
    "SchemaDatasetFacet": "1-2-0",
    "SourceCodeJobFacet": "1-0-1",
}


def run_events(run: Run) -> list[Json]:
    """All events of a run so far, in order: each stays as it is once it is there."""
    moments: list[tuple[str, datetime]] = [("START", run.started_at)]
    if run.running_at is not None:
        moments.append(("RUNNING", run.running_at))
    if run.ended_at is not None:
        moments.append((_end(run), run.ended_at))
    inputs, outputs = _datasets(run)
    return [
        {
            "eventType": type_,
            "eventTime": at.isoformat(),
            "producer": PRODUCER,
            "schemaURL": _RUN_EVENT,
            "run": {"runId": str(run.pk), "facets": _run_facets(run, type_)},
            "job": {
                "namespace": settings.ENVIRONMENT.openlineage_namespace,
                "name": run.deployment.name,
                "facets": _job_facets(run),
            },
            "inputs": inputs,
            "outputs": outputs,
        }
        for type_, at in moments
    ]


def _end(run: Run) -> str:
    """How it ended: as wanted, by itself, or before it had done anything."""
    if run.state in (State.FAILED, State.BACKING_OFF):
        return "FAIL"
    return "COMPLETE" if run.running_at is not None else "ABORT"


def _run_facets(run: Run, type_: str) -> Json:
    engine = _facet("ProcessingEngineRunFacet", name="spark", version=version("pyspark"))
    facets = {"processing_engine": engine}
    if type_ == "FAIL":
        said = run.message or "It ended without a word."
        facets["errorMessage"] = _facet(
            "ErrorMessageRunFacet", message=said, programmingLanguage="PYTHON"
        )
    return facets


def _job_facets(run: Run) -> Json:
    kind = {"processingType": "STREAMING", "integration": "SPARK", "jobType": "JOB"}
    facets = {"jobType": _facet("JobTypeJobFacet", **kind)}
    deployment = run.deployment
    # What ran before another version was deployed is not kept in the database.
    if run.generation == deployment.generation and deployment.script:
        facets["sourceCode"] = _facet(
            "SourceCodeJobFacet", language="PYTHON", sourceCode=deployment.script
        )
    return facets


def _datasets(run: Run) -> tuple[list[Json], list[Json]]:
    """The topics that it reads and writes, with their columns where these are known."""
    deployment = run.deployment
    try:
        graph = read_graph(run.version.graph if run.version else deployment.graph)
    except InvalidGraph:
        return [], []
    connections = rows_in(deployment.environment)
    rows = check(graph).rows
    inputs: _Datasets = {}
    outputs: _Datasets = {}
    for step in graph.in_order:
        config = step.parsed
        if isinstance(config, KafkaRecords):
            columns = rows[step.id].columns if step.id in rows else ()
            for topic in config.topics:
                _add(inputs, connections.get(config.connection), topic, columns)
        if isinstance(config, KafkaSource) and config.has_dead_letters:
            topic = f"headrace.{deployment.name}.{step.id}.dead-letters"
            _add(outputs, connections.get(config.connection), topic, ())
        if isinstance(config, KafkaSink) and config.topic:
            columns = tuple(_columns_into(graph, step, rows))
            _add(outputs, connections.get(config.connection), config.topic, columns)
    return list(inputs.values()), list(outputs.values())


def _columns_into(graph: Graph, step: Any, rows: Mapping[str, Rows]) -> Iterator[Column]:
    """The columns of the rows that flow into a sink."""
    for found in (inputs_of(graph, step, rows) or {}).values():
        for one in found if isinstance(found, list) else [found]:
            yield from one.columns


def _add(
    datasets: _Datasets,
    connection: Connection | None,
    topic: str,
    columns: tuple[Column, ...],
) -> None:
    if connection is None or not connection.bootstrap_servers:
        return
    first = connection.bootstrap_servers.split(",")[0].strip()
    namespace = f"kafka://{first}"
    # Those that only say where a row comes from are in no topic.
    told = [c for c in columns if not c.name.startswith("_")]
    fields = [{"name": c.name, **({"type": c.type} if c.type else {})} for c in told]
    facets = {"schema": _facet("SchemaDatasetFacet", fields=fields)} if fields else {}
    datasets[namespace, topic] = {"namespace": namespace, "name": topic, "facets": facets}


def _facet(facet: str, **fields: Any) -> Json:
    url = f"{_SPEC}/facets/{_FACETS[facet]}/{facet}.json#/$defs/{facet}"
    return {"_producer": PRODUCER, "_schemaURL": url, **fields}
