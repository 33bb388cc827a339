from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from ninja import Field, Header, Query, Router, Status

from builder.access import activity
from builder.access.models import Activity
from builder.access.permissions import visible, visible_or_404
from builder.deployments import actions
from builder.deployments.describe import describe, describe_whole, with_names
from builder.deployments.log_tail import tail
from builder.deployments.models import Deployment
from builder.monitor.schema import Metrics
from builder.paging import Page, SearchedPage
from builder.request import Request
from builder.schema import ActivityOut, Body, Json, Schema, Segment
from runner.steps.kafka_source import Start

router = Router(tags=["deployments"])

State = Literal["pending", "starting", "running", "stopping", "stopped", "backing_off", "failed"]


class PipelineRef(Schema):
    id: UUID
    name: str
    slug: str
    folder: str


class MissingTopic(Schema):
    connection: str
    topic: str


class DeploymentListed(Schema):
    id: UUID
    pipeline: PipelineRef
    version: int
    environment: str
    desired: Literal["running", "stopped"]
    state: State
    message: str
    step: str | None
    mode: Literal["auto", "real_time", "micro_batch"]
    segments: list[Segment]
    metrics: Metrics | None
    missing_topics: list[MissingTopic]
    failures: int = Field(description="How many tries failed, one after the other")
    retry_at: datetime | None = Field(description="When it is tried again, where it backs off")
    created_at: datetime
    updated_at: datetime


class TestsOut(Schema):
    passed: int
    failed: list[str] = Field(description="The names of those that failed")
    not_run: int = Field(description="How many had not run on this graph")


class RunOut(Schema):
    epoch: int
    version: int | None = Field(description="null where it ran before that was noted")
    standby: bool = Field(description="Ready, and waits for the run that it replaces to end")
    state: State
    message: str
    step: str | None = Field(description="The step at fault, where that is known")
    exit_code: int | None = Field(
        description="0 as asked, 65 can't run as it is, 75 the world's fault, else a crash; null "
        "where it said none"
    )
    started_at: datetime
    ended_at: datetime | None
    tests: TestsOut | None = Field(description="What the test cases said of its graph")


class DiskUse(Schema):
    runs: int = Field(description="Bytes of its runs: programs, events, logs")
    checkpoints: int


class DeploymentOut(DeploymentListed):
    version_before: int | None = Field(
        description="What rolling back would run; null where no other version has run here"
    )
    graph: Json
    samples: dict[str, list[Json]]
    tests: TestsOut | None = Field(
        description="What the test cases said of its graph when it was deployed"
    )
    disk: DiskUse
    runs: list[RunOut]


class Deployments(Schema):
    items: list[DeploymentListed]
    count: int


class DeploymentNew(Body):
    pipeline: UUID
    version: int | None = Field(None, ge=1, description="The draft is frozen as one where left out")
    environment: str = Field("default", pattern=r"^[a-z][a-z0-9-]{0,29}$")
    start: Start | None = Field(
        None, description="Where sources begin that no checkpoint knows; else as the steps say"
    )
    mode: Literal["auto", "real_time", "micro_batch"] = "auto"
    state: Literal["keep", "fresh"] = "keep"
    comment: str = Field("", max_length=500)


class Rewind(Body):
    start: Start = Field(description="Where the sources begin to read")


class SegmentFit(Schema):
    id: str
    mode: Literal["real_time", "micro_batch"]
    checkpoint: str
    goes_on: bool
    message: str


class Fit(Schema):
    fits: bool = Field(description="Whether every segment goes on from where it is")
    segments: list[SegmentFit]
    left: list[str] = Field(description="Checkpoints that nothing would use any more")


class Logs(Schema):
    epoch: int | None
    lines: list[str]
    truncated: bool


class Activities(Schema):
    items: list[ActivityOut]
    count: int


def _one(request: Request, deployment_id: UUID) -> Deployment:
    return visible_or_404(request.auth, with_names(Deployment.objects.all()), pk=deployment_id)


@router.get("/deployments", response=Deployments, by_alias=True, summary="List deployments")
def list_deployments(
    request: Request, page: Query[SearchedPage], pipeline: UUID | None = None
) -> Any:
    """List deployments, newest first; `pipeline` leaves only those of one."""
    rows = Deployment.objects.filter(pipeline__name__icontains=page.search)
    if pipeline is not None:
        rows = rows.filter(pipeline=pipeline)
    found = page.of(with_names(visible(request.auth, rows)))
    found["items"] = [describe(deployment) for deployment in found["items"]]
    return found


@router.post(
    "/deployments",
    response={200: DeploymentOut, 201: DeploymentOut},
    by_alias=True,
    summary="Deploy a pipeline",
)
def create_deployment(
    request: Request,
    body: DeploymentNew,
    key: str | None = Header(None, alias="Idempotency-Key", max_length=200),
) -> Any:
    """Make or replace the pipeline's deployment in an environment; answers at once.

    422 with `problems` where the graph is not sound. Repeating a request with the same
    `Idempotency-Key` is harmless.
    """
    deployment, made = actions.deploy(
        request.auth,
        body.pipeline,
        version=body.version,
        environment=body.environment,
        mode=body.mode,
        start=_plain(body.start),
        state=body.state,
        comment=body.comment,
        key=key,
    )
    return Status(201 if made else 200, describe_whole(_one(request, deployment.pk)))


@router.get(
    "/deployments/{uuid:deployment_id}",
    response=DeploymentOut,
    by_alias=True,
    summary="Get a deployment",
)
def get_deployment(request: Request, deployment_id: UUID) -> Any:
    """Answer a deployment with its graph, newest rows and runs."""
    return describe_whole(_one(request, deployment_id))


@router.post(
    "/deployments/{uuid:deployment_id}/stop", response=DeploymentOut, by_alias=True, summary="Stop"
)
def stop_deployment(request: Request, deployment_id: UUID) -> Any:
    """Want it stopped; its checkpoints stay."""
    actions.stop(request.auth, deployment_id)
    return describe_whole(_one(request, deployment_id))


@router.post(
    "/deployments/{uuid:deployment_id}/start",
    response=DeploymentOut,
    by_alias=True,
    summary="Start",
)
def start_deployment(request: Request, deployment_id: UUID) -> Any:
    """Want it to run; it goes on from its checkpoints."""
    actions.start(request.auth, deployment_id)
    return describe_whole(_one(request, deployment_id))


@router.post(
    "/deployments/{uuid:deployment_id}/restart",
    response=DeploymentOut,
    by_alias=True,
    summary="Restart",
)
def restart_deployment(request: Request, deployment_id: UUID) -> Any:
    """Stop it and start it again from its checkpoints."""
    actions.restart(request.auth, deployment_id)
    return describe_whole(_one(request, deployment_id))


@router.post(
    "/deployments/{uuid:deployment_id}/rewind",
    response=DeploymentOut,
    by_alias=True,
    summary="Rewind",
)
def rewind_deployment(request: Request, deployment_id: UUID, body: Rewind) -> Any:
    """Have it read from another place; what its steps remember is forgotten."""
    actions.rewind(request.auth, deployment_id, _plain(body.start))
    return describe_whole(_one(request, deployment_id))


@router.post(
    "/deployments/{uuid:deployment_id}/roll-back",
    response=DeploymentOut,
    by_alias=True,
    summary="Roll back",
)
def roll_back_deployment(request: Request, deployment_id: UUID) -> Any:
    """Run the version again that ran before; 409 where no other has."""
    actions.roll_back(request.auth, deployment_id)
    return describe_whole(_one(request, deployment_id))


@router.get(
    "/deployments/{uuid:deployment_id}/fit",
    response=Fit,
    summary="Does an edit fit the state that is there",
)
def get_fit(
    request: Request,
    deployment_id: UUID,
    version: int | None = Query(None, ge=1, description="The draft where left out"),
    mode: Literal["auto", "real_time", "micro_batch"] | None = Query(
        None, description="The deployment's own where left out"
    ),
) -> Any:
    """Say which segments of a version or the draft would go on from their checkpoints.

    422 with `problems` where the graph is not sound.
    """
    return actions.fit_of(request.auth, deployment_id, version, mode)


@router.get("/deployments/{uuid:deployment_id}/logs", response=Logs, summary="The log of a run")
def get_logs(
    request: Request,
    deployment_id: UUID,
    epoch: int | None = Query(None, ge=1, description="Which run; the newest where left out"),
    lines: int = Query(500, ge=1, le=5000),
) -> Any:
    """Answer the last lines that a run has written."""
    deployment = _one(request, deployment_id)
    runs = deployment.runs.all()
    run = runs.first() if epoch is None else visible_or_404(request.auth, runs, epoch=epoch)
    if run is None:
        return {"epoch": None, "lines": [], "truncated": False}
    run.deployment = deployment
    found, truncated = tail(run.folder / "log.txt", lines)
    return {"epoch": run.epoch, "lines": found, "truncated": truncated}


@router.get(
    "/deployments/{uuid:deployment_id}/activity", response=Activities, summary="Who did what"
)
def list_activity(request: Request, deployment_id: UUID, page: Query[Page]) -> Any:
    """List what was done to a deployment, newest first."""
    deployment = _one(request, deployment_id)
    found = page.of(Activity.objects.filter(subject_id=deployment.pk).select_related("user"))
    found["items"] = [activity.as_json(a) for a in found["items"]]
    return found


def _plain(start: Any) -> Any:
    return start if start is None or isinstance(start, str) else start.model_dump(mode="json")
