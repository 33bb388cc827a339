"""What a catalogue is told of runs, by a real server that takes OpenLineage's events."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import jsonschema
import pytest
from django.utils import timezone

from builder.connections.models import Connection
from builder.deployments.models import Deployment, Run
from builder.lineage.models import ToldRun
from builder.lineage.run_events import run_events
from builder.lineage.tasks import tell, untold
from builder.pipelines.models import Pipeline, Version

AT = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
FACET = {
    "type": "object",
    "required": ["_producer", "_schemaURL"],
    "properties": {
        "_producer": {"type": "string", "format": "uri"},
        "_schemaURL": {"type": "string", "pattern": "^https://openlineage.io/spec/facets/"},
    },
}
FACETS = {"type": "object", "additionalProperties": FACET}
NAMED = {
    "type": "object",
    "required": ["namespace", "name"],
    "properties": {
        "namespace": {"type": "string"}, "name": {"type": "string"}, "facets": FACETS,
    },
}  # fmt: skip
# What version 2-0-2 of the specification asks of a RunEvent.
RUN_EVENT = {
    "type": "object",
    "required": ["eventTime", "producer", "schemaURL", "run", "job"],
    "properties": {
        "eventType": {"enum": ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]},
        "eventTime": {"type": "string", "format": "date-time"},
        "producer": {"type": "string", "format": "uri"},
        "schemaURL": {
            "const": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
        },
        "run": {
            "type": "object",
            "required": ["runId"],
            "properties": {"runId": {"type": "string", "format": "uuid"}, "facets": FACETS},
        },
        "job": NAMED,
        "inputs": {"type": "array", "items": NAMED},
        "outputs": {"type": "array", "items": NAMED},
    },
    "additionalProperties": False,
}


class Catalogue:
    """A server that keeps the events it takes; it takes none while it has an error."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()
        self.status = 201
        catalogue = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if catalogue.status == 201:
                    catalogue.events.append(json.loads(body))
                    catalogue.keys.add(self.headers["Authorization"])
                self.send_response(catalogue.status)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/api/v1/lineage"
        Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def types(self) -> list[str]:
        return [event["eventType"] for event in self.events]


@pytest.fixture
def catalogue(settings: Any) -> Iterator[Catalogue]:
    catalogue = Catalogue()
    chosen = {"openlineage_url": catalogue.url, "openlineage_api_key": "a key"}
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update=chosen)
    yield catalogue
    catalogue.server.shutdown()
    catalogue.server.server_close()


@pytest.fixture
def run(admin: Any, word_count: dict[str, Any]) -> Run:
    Connection.objects.create(name="local", bootstrap_servers="kafka-1:9092, kafka-2:9092")
    pipeline = Pipeline.objects.create(name="p", slug="p", graph=word_count, owner=admin)
    version = Version.objects.create(pipeline=pipeline, number=1, graph=word_count, hash="")
    deployment = Deployment.objects.create(
        pipeline=pipeline, version=version, name="p", graph=word_count, script="spark = 1\n"
    )
    return Run.objects.create(
        deployment=deployment, version=version, epoch=1, generation=1, started_at=timezone.now()
    )


@contextmanager
def changed(run: Run, **fields: Any) -> Iterator[None]:
    Run.objects.filter(pk=run.pk).update(**fields)
    yield
    ToldRun.objects.update(due_at=timezone.now())
    for id_ in untold():
        tell(str(id_))


ENDS = [
    ({"state": "stopped", "running_at": AT}, ["START", "RUNNING", "COMPLETE"]),
    ({"state": "failed", "running_at": AT}, ["START", "RUNNING", "FAIL"]),
    ({"state": "backing_off"}, ["START", "FAIL"]),
    ({"state": "stopped"}, ["START", "ABORT"]),
]


@pytest.mark.parametrize(("fields", "types"), ENDS)
def test_how_a_run_ends(fields: dict[str, Any], types: list[str], run: Run) -> None:
    Run.objects.update(message="It broke.", ended_at=AT + timedelta(seconds=9), **fields)
    events = run_events(Run.objects.get())
    assert [event["eventType"] for event in events] == types
    for event in events:
        checker = jsonschema.Draft202012Validator(
            RUN_EVENT, format_checker=jsonschema.FormatChecker()
        )
        checker.validate(event)
    error = events[-1]["run"]["facets"].get("errorMessage", {}).get("message")
    assert error == ("It broke." if types[-1] == "FAIL" else None)


def test_each_event_is_told_once_and_in_order(run: Run, catalogue: Catalogue) -> None:
    with changed(run):
        pass
    assert catalogue.types == ["START"]
    with changed(run):
        pass
    assert untold() == []
    with changed(run, running_at=timezone.now()):
        pass
    with changed(run, ended_at=timezone.now(), state="stopped"):
        pass
    assert catalogue.types == ["START", "RUNNING", "COMPLETE"]
    assert untold() == []
    assert catalogue.keys == {"Bearer a key"}
    event = catalogue.events[0]
    assert event["run"]["runId"] == str(run.pk)
    assert (event["job"]["namespace"], event["job"]["name"]) == ("headrace", "p")
    assert event["job"]["facets"]["sourceCode"]["sourceCode"] == "spark = 1\n"


def test_the_topics_of_a_pipeline_with_their_columns(run: Run) -> None:
    [event] = run_events(run)
    [lines] = event["inputs"]
    assert (lines["namespace"], lines["name"]) == ("kafka://kafka-1:9092", "lines")
    outputs = {found["name"]: found for found in event["outputs"]}
    fields = outputs["word-counts"]["facets"]["schema"]["fields"]
    assert [found["name"] for found in fields] == ["word", "count"]
    assert all("_" not in found["name"][:1] for found in fields)


def test_a_catalogue_that_is_away_is_told_later(run: Run, catalogue: Catalogue) -> None:
    catalogue.status = 503
    tell(str(run.pk))
    told = ToldRun.objects.get()
    assert (told.events, told.said) == (0, "failed once: answered 503")
    assert 4 < (told.due_at - timezone.now()).total_seconds() <= 5
    assert untold() == []
    tell(str(run.pk))
    assert ToldRun.objects.get().attempts == 1, "it is not due"
    catalogue.status = 201
    with changed(run, ended_at=timezone.now(), state="failed", message="Gone."):
        pass
    assert catalogue.types == ["START", "FAIL"]
    assert (ToldRun.objects.get().is_done, ToldRun.objects.get().said) == (True, "")


def test_what_is_long_over_stands_by_or_is_not_asked_for_is_not_told(
    run: Run, catalogue: Catalogue, settings: Any
) -> None:
    Run.objects.update(ended_at=timezone.now() - timedelta(days=2))
    assert untold() == []
    Run.objects.update(ended_at=None, standby=True)
    assert untold() == []
    Run.objects.update(standby=False)
    none = settings.ENVIRONMENT.model_copy(update={"openlineage_url": ""})
    settings.ENVIRONMENT = none
    tell(str(run.pk))
    assert not ToldRun.objects.exists()
    assert catalogue.events == []
