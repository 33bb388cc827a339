from typing import Any
from uuid import UUID

from django.conf import settings
from ninja import Field, Router

from builder.access.permissions import visible
from builder.deployments.disk import room, usage, used
from builder.deployments.models import Deployment
from builder.request import Request
from builder.schema import Schema

router = Router(tags=["health"])


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


@router.get("/disk", response=Disk, summary="Disk use")
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
