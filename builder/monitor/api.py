from datetime import datetime
from typing import Any, Self
from uuid import UUID

from django.conf import settings
from ninja import Field, Query, Router
from pydantic import model_validator

from builder.access.permissions import visible, visible_or_404
from builder.deployments.disk import room, usage, used
from builder.deployments.models import Deployment
from builder.monitor.history import aware, history, sparklines
from builder.monitor.schema import History, Sparklines, StateOut, StateQuery, Tables
from builder.monitor.state import rows_of, tables_of
from builder.request import Request
from builder.schema import Schema

router = Router()


class DeploymentDisk(Schema):
    id: UUID
    pipeline: str
    environment: str
    runs: int
    checkpoints: int


class Disk(Schema):
    total: int = Field(description="Of the disk that the data folder stands on, in bytes")
    free: int
    low: bool = Field(description="Whether it is nearly full")
    message: str
    data: int = Field(description="What the whole data folder takes")
    deployments: list[DeploymentDisk]


@router.get("/disk", response=Disk, tags=["health"], summary="Disk use")
def get_disk(request: Request) -> Any:
    """Answer how full the disk is, and what the data folder and each deployment take of it."""
    found = room()
    rows = visible(request.auth, Deployment.objects.select_related("pipeline"))
    return {
        "total": found.total,
        "free": found.free,
        "low": found.is_low,
        "message": str(found),
        "data": used(settings.HEADRACE_DATA),
        "deployments": [
            {
                "id": deployment.pk,
                "pipeline": deployment.pipeline.name,
                "environment": deployment.environment,
                **usage(deployment),
            }
            for deployment in rows
        ],
    }


class Span(Schema):
    from_: datetime | None = Field(
        None, alias="from", description="An hour before `to` where left out"
    )
    to: datetime | None = Field(None, description="Now where left out")

    @model_validator(mode="after")
    def _begins_first(self) -> Self:
        begin, end = aware(self.from_), aware(self.to)
        if begin is not None and end is not None and begin > end:
            raise ValueError("The span ends before it begins: `to` must not be before `from`")
        return self


class SpanOfStep(Span):
    step: str | None = Field(
        None, max_length=63, pattern="^[a-z0-9_]+$", description="Only this step's counts"
    )


@router.get(
    "/deployments/{uuid:deployment_id}/metrics",
    response=History,
    by_alias=True,
    tags=["deployments"],
    summary="Counts and measures over time",
)
def get_metrics(request: Request, deployment_id: UUID, span: Query[SpanOfStep]) -> Any:
    """Answer some 600 points at most of any span.

    There is a point every second of the newest minutes, every 10 seconds of a day, every minute
    of a month and every hour beyond, as the retention says. Where a point stands for several,
    rates, batch times and median latencies are averaged over time, lags, delays and 99th
    percentiles are the highest, and counts, restarts and sizes the last, which are those at the
    time that the point names.
    """
    deployment = visible_or_404(request.auth, Deployment.objects.all(), pk=deployment_id)
    return history(deployment, span.from_, span.to, span.step)


@router.get(
    "/metrics",
    response=Sparklines,
    by_alias=True,
    tags=["deployments"],
    summary="Rate, lag and latency of all deployments over time",
)
def list_metrics(request: Request, span: Query[Span]) -> Any:
    """Answer some 60 points at most of each deployment, averaged as those of one are."""
    return sparklines(visible(request.auth, Deployment.objects.all()), span.from_, span.to)


@router.get(
    "/deployments/{uuid:deployment_id}/state",
    response=Tables,
    tags=["deployments"],
    summary="The tables of a deployment",
)
def list_tables(request: Request, deployment_id: UUID) -> Any:
    """List the steps that give tables, with their keys."""
    rows = Deployment.objects.all()
    return {"tables": tables_of(visible_or_404(request.auth, rows, pk=deployment_id))}


@router.get(
    "/deployments/{uuid:deployment_id}/state/{step}",
    response=StateOut,
    by_alias=True,
    tags=["deployments"],
    summary="Rows of a table",
)
def get_state(request: Request, deployment_id: UUID, step: str, query: Query[StateQuery]) -> Any:
    """Answer what a step's table holds, by key, prefix or window, while the job runs.

    422 where the step gives no table or the key is none of it; a key that is not there gives no
    rows.
    """
    deployment = visible_or_404(request.auth, Deployment.objects.all(), pk=deployment_id)
    question = {
        "key": query.key,
        "prefix": query.prefix,
        "begin": query.from_,
        "end": query.to,
        "limit": query.limit,
        "live": query.live,
    }
    return rows_of(deployment, step, question)
