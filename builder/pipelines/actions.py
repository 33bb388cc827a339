"""Every write to pipelines, their versions and test cases."""

import json
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from builder.access.activity import record
from builder.access.permissions import require, require_somewhere, visible_or_404
from builder.pipelines.layout import layout
from builder.pipelines.models import Pipeline, TestCase, Version, empty_graph
from builder.pipelines.rehearse_draft import by_worker, rehearse_draft
from builder.pipelines.run_test_case import Outcome, Rehearse, run_test_case
from builder.pipelines.templates import templates
from builder.refused import Refused
from runner.graph import Graph, read_graph

RowsByStep = dict[str, list[dict[str, Any]]]

# What a rehearsal takes in all, and what it tells of each step.
MOST_GIVEN = 10_000
MOST_EXPECTED = 1_000


def make_pipeline(
    user: User,
    name: str | None = None,
    graph: dict[str, Any] | None = None,
    template: str | None = None,
    folder: str = "",
) -> Pipeline:
    """Make a draft: empty, of a graph, or of a template.

    Raises InvalidGraph where the graph's shape is wrong; an unsound graph may be kept.
    """
    wanted = Pipeline(folder=folder)
    require(user, "add", wanted)
    if template is not None:
        if graph is not None:
            raise Refused(422, "Give a graph or a template, not both.")
        if template not in templates():
            raise Refused(
                422, f"There is no template {template}; {', '.join(templates())} are there."
            )
        chosen = templates()[template]
        graph, name = chosen["graph"], name or chosen["title"]
    if graph is None:
        graph = empty_graph()
    read = read_graph(graph)
    require_python(user, read, wanted)
    graph = _placed(graph, read)
    name = name or "New pipeline"
    with transaction.atomic():
        pipeline = Pipeline.objects.create(
            name=name, slug=_free_slug(name), folder=folder, owner=user, graph=graph
        )
        record(user, "add", pipeline, f"{user} made the pipeline {name}")
    return pipeline


def save_pipeline(
    user: User,
    pipeline_id: UUID,
    revision: int,
    name: str | None,
    graph: dict[str, Any] | None,
    folder: str | None = None,
) -> Pipeline:
    """Save a draft that was edited from `revision`; what is None stays as it is.

    Whoever moves it to another folder must be one who may make pipelines there. Raises Refused
    (409, with the newer pipeline) where somebody saved in between, and InvalidGraph where the
    graph's shape is wrong.
    """
    seen = _changeable(user, pipeline_id)
    if folder is not None and folder != seen.folder:
        require(user, "add", Pipeline(folder=folder))
    read = read_graph(graph) if graph is not None else None
    with transaction.atomic():
        pipeline = visible_or_404(user, Pipeline.objects.select_for_update(), pk=pipeline_id)
        # Python that stands there already was written by somebody who may.
        if read is not None and not _python_of(read) <= _python_of(read_graph(pipeline.graph)):
            require(user, "write Python in", pipeline)
        if pipeline.revision != revision:
            raise Refused(
                409,
                f"Somebody saved this pipeline as revision {pipeline.revision}; "
                f"yours was made from {revision}.",
                revision=pipeline.revision,
                name=pipeline.name,
                graph=pipeline.graph,
            )
        if name is not None:
            pipeline.name = name
        if graph is not None:
            pipeline.graph = graph
        moved = ""
        if folder is not None and folder != pipeline.folder:
            pipeline.folder = folder
            moved = f" and moved it to {f'the folder {folder}' if folder else 'no folder'}"
        pipeline.revision += 1
        pipeline.save()
        record(user, "change", pipeline, f"{user} saved revision {pipeline.revision}{moved}")
    return pipeline


def delete_pipeline(user: User, pipeline_id: UUID) -> None:
    """Delete a pipeline with its versions and stopped deployments.

    Raises Refused (409) while a deployment of it runs or should run: deployments have their
    say as Django's `pre_delete` is sent.
    """
    seen = visible_or_404(user, Pipeline.objects.all(), pk=pipeline_id)
    require(user, "delete", seen)
    with transaction.atomic():
        pipeline = visible_or_404(user, Pipeline.objects.select_for_update(), pk=pipeline_id)
        record(user, "delete", pipeline, f"{user} deleted the pipeline {pipeline.name}")
        pipeline.delete()


def make_version(user: User, pipeline_id: UUID, comment: str = "") -> Version:
    """Freeze the draft. Where nothing changed since the newest version, that one is answered."""
    _changeable(user, pipeline_id)
    with transaction.atomic():
        pipeline = visible_or_404(user, Pipeline.objects.select_for_update(), pk=pipeline_id)
        return freeze(user, pipeline, pipeline.graph, comment)


def freeze(user: User, pipeline: Pipeline, graph: dict[str, Any], comment: str) -> Version:
    """The newest version if it means the same as the graph, else a new one.

    Needs the lock of the pipeline's row.
    """
    hash_ = read_graph(graph).hash()
    newest = pipeline.versions.first()
    if newest is not None and newest.hash == hash_:
        return newest
    version = Version.objects.create(
        pipeline=pipeline,
        number=newest.number + 1 if newest else 1,
        graph=graph,
        hash=hash_,
        comment=comment,
        created_by=user,
    )
    record(user, "add", pipeline, f"{user} made version {version.number} {comment}".strip())
    return version


def make_test_case(
    user: User, pipeline_id: UUID, name: str, rows: RowsByStep, expected: RowsByStep
) -> TestCase:
    """Make a test case. Raises Refused: 409 where the name is taken, 422 for too many rows."""
    pipeline = _changeable(user, pipeline_id)
    _refuse_too_many(rows, expected)
    with transaction.atomic():
        Pipeline.objects.select_for_update().get(pk=pipeline.pk)
        _refuse_taken(pipeline, name)
        case = TestCase.objects.create(
            pipeline=pipeline, name=name, rows=rows, expected=expected, created_by=user
        )
        record(user, "change", pipeline, f"{user} made the test case {name}")
    return case


def change_test_case(
    user: User,
    pipeline_id: UUID,
    case_id: UUID,
    name: str,
    rows: RowsByStep,
    expected: RowsByStep,
) -> TestCase:
    """Change a test case; with other rows it has not run yet. Raises as `make_test_case` does."""
    pipeline = _changeable(user, pipeline_id)
    _refuse_too_many(rows, expected)
    with transaction.atomic():
        Pipeline.objects.select_for_update().get(pk=pipeline.pk)
        case = visible_or_404(user, pipeline.test_cases.all(), pk=case_id)
        if name != case.name:
            _refuse_taken(pipeline, name)
        if json.dumps([rows, expected]) != json.dumps([case.rows, case.expected]):
            case.last_passed, case.last_at, case.last_hash = None, None, ""
        case.name, case.rows, case.expected = name, rows, expected
        case.save()
        record(user, "change", pipeline, f"{user} changed the test case {name}")
    return case


def delete_test_case(user: User, pipeline_id: UUID, case_id: UUID) -> None:
    """Delete a test case."""
    pipeline = _changeable(user, pipeline_id)
    with transaction.atomic():
        case = visible_or_404(user, pipeline.test_cases.select_for_update(), pk=case_id)
        record(user, "change", pipeline, f"{user} deleted the test case {case.name}")
        case.delete()


def run_test_cases(
    user: User,
    pipeline_id: UUID,
    ids: Iterable[UUID] | None = None,
    graph: dict[str, Any] | None = None,
) -> list[Outcome]:
    """Run test cases (all of them, without `ids`) on a graph, which is the draft if none is given.

    Whoever may see them may run them; a graph with Python takes one who may write it. Raises
    Refused: 404 where one is not there, 503 and 504 where Spark is not there for it;
    InvalidGraph where the graph's shape is wrong.
    """
    pipeline = visible_or_404(user, Pipeline.objects.all(), pk=pipeline_id)
    require(user, "run", TestCase(pipeline=pipeline))
    if graph is not None:
        require_python(user, read_graph(graph), pipeline)
    cases = pipeline.test_cases.all()
    if ids is not None:
        wanted = set(ids)
        cases = cases.filter(pk__in=wanted)
        if missing := wanted - set(cases.values_list("pk", flat=True)):
            raise Refused(404, f"There is no test case {min(missing)} in this pipeline.")
    return list(try_test_cases(cases, pipeline.graph if graph is None else graph, by_worker))


def try_test_cases(
    cases: Iterable[TestCase], graph: dict[str, Any], rehearse: Rehearse
) -> Iterator[Outcome]:
    """Run each test case on the graph, and remember of each what came of it."""
    hash_ = read_graph(graph).hash()
    for case in cases:
        outcome = run_test_case(case, graph, rehearse)
        # Of one that was changed meanwhile it says nothing.
        TestCase.objects.filter(pk=case.pk, updated_at=case.updated_at).update(
            last_passed=outcome.passed, last_at=timezone.now(), last_hash=hash_
        )
        yield outcome


def rehearse(user: User, graph: dict[str, Any], rows: RowsByStep) -> dict[str, Any]:
    """Try a graph on given rows, as `rehearse_draft` does; one with Python runs it, too."""
    require_somewhere(user, "rehearse", Pipeline)
    if runs_python(read_graph(graph)):
        require_somewhere(user, "write Python in", Pipeline)
    return rehearse_draft(graph, rows)


def require_python(user: User, graph: Graph, pipeline: Pipeline) -> None:
    """Raise Refused (403) where the graph has a Python step and the user may not write Python."""
    if runs_python(graph):
        require(user, "write Python in", pipeline)


def runs_python(graph: Graph) -> bool:
    """Whether a step of the graph is written in Python."""
    return bool(_python_of(graph))


def _python_of(graph: Graph) -> set[str]:
    """The steps of the graph that are written in Python, each with all that it says."""
    return {
        json.dumps([step.id, step.type, step.config], sort_keys=True)
        for step in graph.steps
        if step.type.startswith("python_")
    }


def _changeable(user: User, pipeline_id: UUID) -> Pipeline:
    pipeline = visible_or_404(user, Pipeline.objects.all(), pk=pipeline_id)
    require(user, "change", pipeline)
    return pipeline


def _refuse_taken(pipeline: Pipeline, name: str) -> None:
    if pipeline.test_cases.filter(name=name).exists():
        raise Refused(409, f"There is a test case {name} already; choose another name.")


def _refuse_too_many(rows: RowsByStep, expected: RowsByStep) -> None:
    given = sum(map(len, rows.values()))
    if given > MOST_GIVEN:
        raise Refused(422, f"A test case takes {MOST_GIVEN:,} rows at most; these are {given:,}.")
    for step, wanted in expected.items():
        if len(wanted) > MOST_EXPECTED:
            raise Refused(
                422,
                f"A test case expects {MOST_EXPECTED:,} rows of a step at most; "
                f"of {step[:63]} it expects {len(wanted):,}.",
            )


def _placed(data: dict[str, Any], graph: Graph) -> dict[str, Any]:
    """The graph's JSON, laid out where nobody has done so."""
    if not graph.steps or graph.canvas.get("layout"):
        return data
    return {**data, "canvas": {**graph.canvas, "layout": layout(graph)}}


def _free_slug(name: str) -> str:
    wanted = slugify(name).replace("_", "-").strip("-")[:50].strip("-") or "pipeline"
    taken = set(Pipeline.objects.filter(slug__startswith=wanted).values_list("slug", flat=True))
    number, slug = 1, wanted
    while slug in taken:
        number += 1
        slug = f"{wanted}-{number}"
    return slug
