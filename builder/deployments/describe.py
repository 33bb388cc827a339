"""A deployment as the API and the websocket say it."""

from typing import Any

from django.db.models import QuerySet

from builder.deployments.disk import usage
from builder.deployments.models import Deployment

Json = dict[str, Any]


def with_names(rows: QuerySet[Deployment]) -> QuerySet[Deployment]:
    """The rows with all that `describe` needs."""
    return rows.select_related("pipeline", "version")


def describe(deployment: Deployment) -> Json:
    """A deployment as lists show it."""
    pipeline = deployment.pipeline
    return {
        "id": str(deployment.id),
        "pipeline": {
            "id": str(pipeline.id),
            "name": pipeline.name,
            "slug": pipeline.slug,
            "folder": pipeline.folder,
        },
        "version": deployment.version.number,
        "environment": deployment.environment,
        "desired": deployment.desired,
        "state": deployment.state,
        "message": deployment.message,
        "step": deployment.step,
        "mode": deployment.mode,
        "segments": [
            {name: segment[name] for name in ("id", "mode", "reason", "steps")}
            for segment in deployment.segments
        ],
        "metrics": deployment.metrics,
        "missing_topics": deployment.missing_topics,
        "failures": deployment.failures,
        "retry_at": deployment.retry_at and deployment.retry_at.isoformat(),
        "created_at": deployment.created_at.isoformat(),
        "updated_at": deployment.updated_at.isoformat(),
    }


def describe_whole(deployment: Deployment) -> Json:
    """A deployment with its graph, newest rows and newest runs."""
    before = deployment.version_before()
    return {
        **describe(deployment),
        "version_before": before and before.number,
        "graph": deployment.graph,
        "samples": deployment.samples,
        "tests": deployment.tests,
        "disk": usage(deployment),
        "runs": [
            {
                "epoch": run.epoch,
                "version": run.version and run.version.number,
                "standby": run.standby,
                "state": run.state,
                "message": run.message,
                "step": (run.exit or {}).get("step"),
                "exit_code": (run.exit or {}).get("code"),
                "started_at": run.started_at.isoformat(),
                "ended_at": run.ended_at and run.ended_at.isoformat(),
                "tests": run.tests,
            }
            for run in deployment.runs.select_related("version")[:50]
        ],
    }
