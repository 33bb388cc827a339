from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db.models import Max, Prefetch, QuerySet
from django.http import FileResponse, HttpResponse, JsonResponse
from ninja import Field, Query, Router, Status
from pydantic import BaseModel, BeforeValidator

from builder.access import activity
from builder.access.permissions import require, visible, visible_or_404
from builder.connections.models import Connection, connections_for_runner
from builder.deployments.models import Deployment
from builder.paging import Page, SearchedPage
from builder.pipelines import actions
from builder.pipelines.check_draft import check_draft
from builder.pipelines.diff import diff
from builder.pipelines.junit import junit
from builder.pipelines.models import Pipeline, TestCase, Version
from builder.pipelines.planned import planned
from builder.pipelines.templates import templates
from builder.request import Request
from builder.schema import ActivityOut, Body, FolderName, Json, Name, ProblemOut, Schema, Segment
from runner.compile import compile_job
from runner.graph import read_graph
from runner.jars import spark_jars
from runner.steps import catalogue

router = Router(tags=["pipelines"])

Mode = Literal["auto", "real_time", "micro_batch"]


def _rows_by_step(value: Any) -> Any:
    """Fail at the first thing that is no row, since there may be a million of them."""
    if not isinstance(value, dict):
        raise ValueError("Give lists of rows by step")
    for step, rows in value.items():
        if not isinstance(rows, list):
            raise ValueError(f"{step[:63]} has no list of rows")
        wrong = next((n for n, row in enumerate(rows, 1) if not isinstance(row, dict)), None)
        if wrong is not None:
            raise ValueError(f"Row {wrong} of {step[:63]} is no object")
    return value


RowsByStep = Annotated[dict[str, list[Json]], BeforeValidator(_rows_by_step)]


class InputPort(Schema):
    name: str
    kinds: list[str]
    many: bool


class StepTypeOut(Schema):
    type: str
    title: str
    help: str
    group: Literal["Sources", "Rows", "State", "Sinks"]
    icon: str
    inputs: list[InputPort]
    outputs: list[str]
    outputs_from: str | None
    inputs_from: str | None
    real_time: bool
    config_schema: Json = Field(alias="schema", description="JSON Schema of the step's config")


class GraphIn(Body):
    graph: Json


class RehearseIn(Body):
    graph: Json
    rows: RowsByStep = Field(
        description="By source. A row may carry _key, _timestamp, _batch and _deleted"
    )


class RehearsedStep(Schema):
    rows: list[Json]
    count: int


class RehearsalOut(Schema):
    steps: dict[str, RehearsedStep]
    dead_letters: list[Json]
    problems: list[ProblemOut]


class CompileIn(Body):
    graph: Json
    mode: Mode = "auto"


# A plain model: of a draft's thousands of columns none is a row of the database.
class CheckedColumn(BaseModel):
    name: str
    type: str | None


class CheckedStep(BaseModel):
    kind: Literal["stream", "table", "lookup"]
    key: list[str]
    columns: list[CheckedColumn]
    mode: Literal["real_time", "micro_batch"] | None
    segment: str | None


class CheckOut(Schema):
    problems: list[ProblemOut]
    steps: dict[str, CheckedStep]
    analyzed: bool = Field(description="Whether Spark had its say; if not, types may be missing")


class Program(Schema):
    script: str
    segments: list[Segment]


class TemplateOut(Schema):
    name: str
    title: str
    about: str
    graph: Json


class PipelineDeployment(Schema):
    id: UUID
    state: str
    message: str
    rate: float


class PipelineHead(Schema):
    id: UUID
    name: str
    slug: str
    folder: str = Field("", description="Empty where it lies in none")
    owner: str | None
    revision: int
    updated_at: datetime
    latest_version: int | None
    deployment: PipelineDeployment | None


class PipelineListed(PipelineHead):
    steps: int


class PipelineOut(PipelineHead):
    graph: Json


class Pipelines(Schema):
    items: list[PipelineListed]
    count: int


class PipelineNew(Body):
    name: Name | None = None
    graph: Json | None = None
    template: str | None = Field(None, max_length=100)
    folder: FolderName = ""


class PipelineChange(Body):
    revision: int = Field(description="The revision that was edited")
    name: Name | None = None
    graph: Json | None = None
    folder: FolderName | None = Field(None, description="It stays where it is where left out")


class PipelineImport(Body):
    name: Name | None = None
    graph: Json
    folder: FolderName = ""


class Timeline(Schema):
    items: list[ActivityOut]
    count: int


class VersionNew(Body):
    comment: str = Field("", max_length=500)


class VersionListed(Schema):
    number: int
    comment: str
    created_by: str | None
    created_at: datetime


class VersionOut(VersionListed):
    graph: Json


class Versions(Schema):
    items: list[VersionListed]
    count: int


class TestCaseIn(Body):
    name: Name
    rows: RowsByStep = Field(description="By source, in the form that a rehearsal takes")
    expected: RowsByStep = Field(
        description="All rows of each step that is named, in any order; hidden columns (_…) and "
        "steps that are not named are not compared"
    )


class LastRun(Schema):
    passed: bool
    at: datetime
    current: bool = Field(description="Whether it ran on the graph that the draft has now")


class TestCaseOut(Schema):
    id: UUID
    name: str
    rows: dict[str, list[Json]]
    expected: dict[str, list[Json]]
    created_by: str | None
    updated_at: datetime
    last: LastRun | None


class TestCases(Schema):
    items: list[TestCaseOut]
    count: int


class TestCasesRun(Body):
    cases: list[UUID] | None = Field(None, max_length=1000, description="All where left out")
    graph: Json | None = Field(None, description="The saved draft where left out")


class ComparedRowOut(Schema):
    op: Literal["same", "missing", "unexpected", "changed"]
    expected: Json | None
    found: Json | None
    columns: list[str] = Field(description="Of a changed row: those that differ")


class ComparedStep(Schema):
    passed: bool
    rows: list[ComparedRowOut]


class TestCaseResult(Schema):
    id: UUID
    name: str
    passed: bool
    seconds: float
    problems: list[ProblemOut]
    steps: dict[str, ComparedStep]


class TestCaseResults(Schema):
    passed: bool
    results: list[TestCaseResult]


class FieldChange(Schema):
    step: str
    field: str
    from_: Any = Field(None, alias="from")
    to: Any = None


class StepsDiff(Schema):
    added: list[str]
    removed: list[str]
    changed: list[FieldChange]


class EdgesDiff(Schema):
    added: list[Json]
    removed: list[Json]


class Diff(Schema):
    steps: StepsDiff
    edges: EdgesDiff


class PlannedTopic(Schema):
    connection: str
    step: str
    use: Literal["read", "write", "dead_letters", "console", "internal"]
    kind: Literal["stream", "table"] | None = Field(
        None, description="Of an internal topic: what flows through it"
    )
    topic: str | None = None
    pattern: str | None = None


class PlannedSegment(Segment):
    checkpoint: str
    reads: list[str] = Field(description="Internal topics that other segments write")
    writes: list[str] = Field(description="Internal topics that other segments read")
    loads: bool = Field(description="Whether it takes in what its topics hold before it runs on")
    slots: int | None = Field(
        description="Tasks that run all the time, in real-time mode; null while Kafka is away"
    )


class PlanOut(Schema):
    segments: list[PlannedSegment]
    topics: list[PlannedTopic]


# --- A graph as such


@router.get(
    "/step-types", response=list[StepTypeOut], by_alias=True, summary="The catalogue of step types"
)
def list_step_types(request: Request) -> Any:
    """Answer the palette: each step type with its ports and the JSON Schema of its config."""
    return catalogue()


@router.get("/templates", response=list[TemplateOut], summary="List templates")
def list_templates(request: Request) -> Any:
    """List pipelines to begin with."""
    return list(templates().values())


@router.post("/check", response=CheckOut, summary="Check a graph")
def check_graph(request: Request, body: GraphIn) -> Any:
    """Answer everything known about a draft, Spark's word on columns included."""
    require(request.auth, "view", Connection)
    return check_draft(body.graph)


@router.post("/rehearse", response=RehearsalOut, summary="Try a graph on given rows")
def rehearse_graph(request: Request, body: RehearseIn) -> Any:
    """Run a graph on these rows, sinks untouched: the rows of every step, batch by batch."""
    return actions.rehearse(request.auth, body.graph, body.rows)


@router.post("/compile", response=Program, summary="Compile a graph")
def compile_graph(request: Request, body: CompileIn) -> Any:
    """Answer the PySpark program of a sound graph; 422 with `problems` for another."""
    require(request.auth, "view", Connection)
    job = compile_job(
        read_graph(body.graph),
        name="pipeline",
        connections=connections_for_runner(),
        mode=body.mode,
    )
    return {"script": job.script, "segments": [s.as_json() for s in job.segments]}


# --- Drafts


def _with_deployments(rows: QuerySet[Pipeline]) -> QuerySet[Pipeline]:
    newest_first = Deployment.objects.order_by("-updated_at")
    return (
        rows.order_by("-updated_at", "id")
        .select_related("owner")
        .annotate(latest_version=Max("versions__number"))
        .prefetch_related(Prefetch("deployments", newest_first, to_attr="newest_deployments"))
    )


def _head(pipeline: Any) -> Json:
    deployment = next(iter(pipeline.newest_deployments), None)
    return {
        "id": pipeline.id,
        "name": pipeline.name,
        "slug": pipeline.slug,
        "folder": pipeline.folder,
        "owner": pipeline.owner.username if pipeline.owner else None,
        "revision": pipeline.revision,
        "updated_at": pipeline.updated_at,
        "latest_version": pipeline.latest_version,
        "deployment": deployment
        and {
            "id": deployment.id,
            "state": deployment.state,
            "message": deployment.message,
            "rate": deployment.rate,
        },
    }


def _whole(request: Request, pipeline_id: UUID) -> Json:
    pipeline = visible_or_404(
        request.auth, _with_deployments(Pipeline.objects.all()), pk=pipeline_id
    )
    return {**_head(pipeline), "graph": pipeline.graph}


@router.get("/pipelines", response=Pipelines, summary="List pipelines")
def list_pipelines(
    request: Request, page: Query[SearchedPage], folder: FolderName | None = None
) -> Any:
    """List pipelines, last changed first; `folder` leaves only those in it."""
    rows = Pipeline.objects.filter(name__icontains=page.search)
    if folder is not None:
        rows = rows.filter(folder=folder)
    found = page.of(_with_deployments(visible(request.auth, rows)))
    found["items"] = [{**_head(p), "steps": len(p.graph["steps"])} for p in found["items"]]
    return found


@router.post("/pipelines", response={201: PipelineOut}, summary="Make a pipeline")
def create_pipeline(request: Request, body: PipelineNew) -> Any:
    """Make a draft: empty, of a graph, or of a template."""
    made = actions.make_pipeline(request.auth, body.name, body.graph, body.template, body.folder)
    return Status(201, _whole(request, made.id))


@router.post("/pipelines/import", response={201: PipelineOut}, summary="Import a pipeline")
def import_pipeline(request: Request, body: PipelineImport) -> Any:
    """Make a draft of what `export?format=json` gave."""
    made = actions.make_pipeline(request.auth, body.name, body.graph, folder=body.folder)
    return Status(201, _whole(request, made.id))


@router.get("/pipelines/{uuid:pipeline_id}", response=PipelineOut, summary="Get a pipeline")
def get_pipeline(request: Request, pipeline_id: UUID) -> Any:
    """Answer a draft with its graph."""
    return _whole(request, pipeline_id)


@router.put("/pipelines/{uuid:pipeline_id}", response=PipelineOut, summary="Save a pipeline")
def update_pipeline(request: Request, pipeline_id: UUID, body: PipelineChange) -> Any:
    """Save a draft; 409 with the newer graph where somebody saved in between."""
    actions.save_pipeline(
        request.auth, pipeline_id, body.revision, body.name, body.graph, body.folder
    )
    return _whole(request, pipeline_id)


@router.delete("/pipelines/{uuid:pipeline_id}", response={204: None}, summary="Delete a pipeline")
def delete_pipeline(request: Request, pipeline_id: UUID) -> Any:
    """Delete a pipeline; 409 while a deployment of it runs."""
    actions.delete_pipeline(request.auth, pipeline_id)
    return Status(204, None)


@router.get(
    "/pipelines/{uuid:pipeline_id}/plan",
    response=PlanOut,
    exclude_none=True,
    summary="Plan a pipeline",
)
def get_plan(
    request: Request,
    pipeline_id: UUID,
    format: Literal["json", "text"] = "json",
    mode: Mode = "auto",
) -> Any:
    """Answer the segments of a sound draft, as JSON or (`format=text`) for people."""
    pipeline = visible_or_404(request.auth, Pipeline.objects.all(), pk=pipeline_id)
    job = compile_job(
        pipeline.read(), name=pipeline.slug, connections=connections_for_runner(), mode=mode
    )
    if format == "text":
        text = job.plan.as_text(pipeline.slug)
        return HttpResponse(text, content_type="text/plain; charset=utf-8")
    return planned(job)


@router.get("/pipelines/{uuid:pipeline_id}/export", summary="Export a pipeline")
def export_pipeline(
    request: Request, pipeline_id: UUID, format: Literal["json", "pyspark"] = "json"
) -> HttpResponse:
    """Answer a file: the draft as JSON, or its program, which runs by plain `spark-submit`."""
    pipeline = visible_or_404(request.auth, Pipeline.objects.all(), pk=pipeline_id)
    if format == "json":
        answer: HttpResponse = JsonResponse(
            {"name": pipeline.name, "graph": pipeline.graph}, json_dumps_params={"indent": 1}
        )
        name = f"{pipeline.slug}.json"
    else:
        job = compile_job(pipeline.read(), name=pipeline.slug, connections=connections_for_runner())
        answer = HttpResponse(job.script, content_type="text/x-python; charset=utf-8")
        name = f"{pipeline.slug}.py"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


@router.get(
    "/pipelines/{uuid:pipeline_id}/activity", response=Timeline, summary="The history of a pipeline"
)
def list_pipeline_activity(
    request: Request,
    pipeline_id: UUID,
    page: Query[Page],
    format: Literal["json", "csv", "jsonl"] = "json",
) -> Any:
    """List who did what to a pipeline, its versions, test cases and deployments, newest first.

    As CSV or JSON lines it is a file with all of it, oldest first.
    """
    pipeline = visible_or_404(request.auth, Pipeline.objects.all(), pk=pipeline_id)
    rows = activity.timeline(pipeline)
    if format != "json":
        return activity.exported(rows, format, f"{pipeline.slug}-activity")
    found = page.of(rows)
    found["items"] = [activity.as_json(a) for a in found["items"]]
    return found


@router.get("/headrace-operators.jar", summary="The state operators of exported programs")
def get_operators(request: Request) -> FileResponse:
    """Answer the jar that programs with state operators need, for spark-submit's `--jars`."""
    jar = next(jar for jar in spark_jars() if jar.name == "headrace-operators.jar")
    return FileResponse(jar.open("rb"), as_attachment=True, filename=jar.name)


# --- Versions


def _version(version: Version) -> Json:
    return {
        "number": version.number,
        "comment": version.comment,
        "created_by": version.created_by.username if version.created_by else None,
        "created_at": version.created_at,
        "graph": version.graph,
    }


def _versions(request: Request, pipeline_id: UUID) -> QuerySet[Version]:
    pipeline = visible_or_404(request.auth, Pipeline.objects.all(), pk=pipeline_id)
    return pipeline.versions.select_related("created_by")


@router.post(
    "/pipelines/{uuid:pipeline_id}/versions", response={201: VersionOut}, summary="Make a version"
)
def create_version(request: Request, pipeline_id: UUID, body: VersionNew) -> Any:
    """Freeze the draft; where nothing changed since the newest version, that one is answered."""
    return Status(201, _version(actions.make_version(request.auth, pipeline_id, body.comment)))


@router.get("/pipelines/{uuid:pipeline_id}/versions", response=Versions, summary="List versions")
def list_versions(request: Request, pipeline_id: UUID, page: Query[Page]) -> Any:
    """List the frozen graphs of a pipeline, newest first."""
    found = page.of(_versions(request, pipeline_id))
    found["items"] = [_version(version) for version in found["items"]]
    return found


@router.get(
    "/pipelines/{uuid:pipeline_id}/versions/{int:number}",
    response=VersionOut,
    summary="Get a version",
)
def get_version(request: Request, pipeline_id: UUID, number: int) -> Any:
    """Answer a frozen graph."""
    return _version(visible_or_404(request.auth, _versions(request, pipeline_id), number=number))


@router.get(
    "/pipelines/{uuid:pipeline_id}/versions/{int:before}/diff/{int:after}",
    response=Diff,
    by_alias=True,
    summary="Compare two versions",
)
def diff_versions(request: Request, pipeline_id: UUID, before: int, after: int) -> Any:
    """Answer what changed from one version to another."""
    rows = _versions(request, pipeline_id)
    first = visible_or_404(request.auth, rows, number=before)
    second = visible_or_404(request.auth, rows, number=after)
    return diff(read_graph(first.graph), read_graph(second.graph))


# --- Test cases


def _case(case: TestCase, draft: str) -> Json:
    last = None
    if case.last_at is not None:
        last = {"passed": case.last_passed, "at": case.last_at, "current": case.last_hash == draft}
    return {
        "id": case.id,
        "name": case.name,
        "rows": case.rows,
        "expected": case.expected,
        "created_by": case.created_by.username if case.created_by else None,
        "updated_at": case.updated_at,
        "last": last,
    }


def _one_case(request: Request, pipeline_id: UUID, case_id: UUID) -> Json:
    pipeline = visible_or_404(request.auth, Pipeline.objects.all(), pk=pipeline_id)
    rows = pipeline.test_cases.select_related("created_by")
    return _case(visible_or_404(request.auth, rows, pk=case_id), pipeline.read().hash())


@router.get(
    "/pipelines/{uuid:pipeline_id}/test-cases", response=TestCases, summary="List test cases"
)
def list_test_cases(request: Request, pipeline_id: UUID, page: Query[Page]) -> Any:
    """List a pipeline's test cases by name."""
    pipeline = visible_or_404(request.auth, Pipeline.objects.all(), pk=pipeline_id)
    found = page.of(pipeline.test_cases.select_related("created_by"))
    draft = pipeline.read().hash()
    found["items"] = [_case(case, draft) for case in found["items"]]
    return found


@router.post(
    "/pipelines/{uuid:pipeline_id}/test-cases",
    response={201: TestCaseOut},
    summary="Make a test case",
)
def create_test_case(request: Request, pipeline_id: UUID, body: TestCaseIn) -> Any:
    """Keep rows for the sources, and the rows that must come out of some steps."""
    made = actions.make_test_case(request.auth, pipeline_id, body.name, body.rows, body.expected)
    return Status(201, _one_case(request, pipeline_id, made.pk))


@router.post(
    "/pipelines/{uuid:pipeline_id}/test-cases/run",
    response=TestCaseResults,
    summary="Run test cases",
)
def run_test_cases(
    request: Request,
    pipeline_id: UUID,
    body: TestCasesRun,
    format: Literal["json", "junit"] = "json",
) -> Any:
    """Run test cases on a graph, and compare what comes out, as JSON or as JUnit's XML.

    One that a graph is not sound enough for fails with the problems; 503 while Spark is away.
    """
    pipeline = visible_or_404(request.auth, Pipeline.objects.all(), pk=pipeline_id)
    outcomes = actions.run_test_cases(request.auth, pipeline_id, body.cases, body.graph)
    if format == "junit":
        text = junit(pipeline.slug, outcomes)
        return HttpResponse(text, content_type="application/xml; charset=utf-8")
    return {
        "passed": all(outcome.passed for outcome in outcomes),
        "results": [outcome.as_json() for outcome in outcomes],
    }


@router.get(
    "/pipelines/{uuid:pipeline_id}/test-cases/{uuid:case_id}",
    response=TestCaseOut,
    summary="Get a test case",
)
def get_test_case(request: Request, pipeline_id: UUID, case_id: UUID) -> Any:
    """Answer a test case, and what came of it when it last ran."""
    return _one_case(request, pipeline_id, case_id)


@router.put(
    "/pipelines/{uuid:pipeline_id}/test-cases/{uuid:case_id}",
    response=TestCaseOut,
    summary="Change a test case",
)
def update_test_case(request: Request, pipeline_id: UUID, case_id: UUID, body: TestCaseIn) -> Any:
    """Change a test case; with other rows it has not run yet."""
    actions.change_test_case(
        request.auth, pipeline_id, case_id, body.name, body.rows, body.expected
    )
    return _one_case(request, pipeline_id, case_id)


@router.delete(
    "/pipelines/{uuid:pipeline_id}/test-cases/{uuid:case_id}",
    response={204: None},
    summary="Delete a test case",
)
def delete_test_case(request: Request, pipeline_id: UUID, case_id: UUID) -> Any:
    """Delete a test case."""
    actions.delete_test_case(request.auth, pipeline_id, case_id)
    return Status(204, None)
