from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from ninja import Field, Query, Router, Status

from builder.access.permissions import visible, visible_or_404
from builder.environments import actions
from builder.environments.conf import ALLOWED
from builder.environments.models import Environment
from builder.environments.profile import Profile
from builder.paging import SearchedPage
from builder.request import Request
from builder.schema import Body, Schema

router = Router(tags=["environments"])


class ProfileIn(Body):
    master: Annotated[
        str, Field(max_length=500, description="local[*] or spark://host:port; empty: as installed")
    ] = ""
    cores: Annotated[
        int | None,
        Field(description="How many tasks of a deployment can run at once; as many as needed"),
    ] = None
    driver_memory: Annotated[str, Field(max_length=10)] = ""
    executor_memory: Annotated[str, Field(max_length=10)] = ""
    conf: Annotated[
        dict[str, str],
        Field(max_length=100, description="Settings of Spark, of those that the list names"),
    ] = {}


class EnvironmentIn(Body):
    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,29}$")
    connections: dict[str, str] = Field(
        default={},
        max_length=100,
        description="The connection that a graph's name means here; else the one of that name",
    )
    profile: ProfileIn = ProfileIn()
    masks: list[str] = Field(
        default=[],
        max_length=1000,
        description="Names of columns whose values nobody is shown; `*` stands for any letters",
    )


class ProfileOut(Schema):
    master: str
    cores: int | None
    driver_memory: str
    executor_memory: str
    conf: dict[str, str]


class EnvironmentOut(Schema):
    name: str
    connections: dict[str, str]
    profile: ProfileOut
    masks: list[str]
    updated_at: datetime


class Setting(Schema):
    name: str
    takes: str


class Environments(Schema):
    items: list[EnvironmentOut]
    count: int
    settings: list[Setting] = Field(description="The settings of Spark that `conf` may name")


@router.get("/environments", response=Environments, summary="List environments")
def list_environments(request: Request, page: Query[SearchedPage]) -> Any:
    """List the environments that somebody has made; a deployment may name another, too."""
    rows = Environment.objects.filter(name__icontains=page.search)
    found = page.of(visible(request.auth, rows))
    found["items"] = [_described(environment) for environment in found["items"]]
    settings = [{"name": name, "takes": form.words} for name, form in ALLOWED.items()]
    return {**found, "settings": settings}


@router.post("/environments", response={201: EnvironmentOut}, summary="Make an environment")
def create_environment(request: Request, body: EnvironmentIn) -> Any:
    """Make an environment; 422 with `problems` on the fields that can't be so."""
    return Status(201, _described(actions.make_environment(request.auth, _wanted(body))))


@router.get("/environments/{name}", response=EnvironmentOut, summary="Get an environment")
def get_environment(request: Request, name: str) -> Any:
    """Answer one environment."""
    return _described(visible_or_404(request.auth, Environment.objects.all(), name=name))


@router.put("/environments/{name}", response=EnvironmentOut, summary="Change an environment")
def update_environment(request: Request, name: str, body: EnvironmentIn) -> Any:
    """Change an environment; what runs in it takes it up when it next starts."""
    return _described(actions.change_environment(request.auth, name, _wanted(body)))


@router.delete("/environments/{name}", response={204: None}, summary="Delete an environment")
def delete_environment(request: Request, name: str) -> Any:
    """Delete an environment; 409 where a deployment uses it."""
    actions.delete_environment(request.auth, name)
    return Status(204, None)


def _wanted(body: EnvironmentIn) -> actions.Wanted:
    profile = Profile(**body.profile.model_dump())
    return actions.Wanted(body.name, body.connections, profile, body.masks)


def _described(environment: Environment) -> dict[str, Any]:
    return {
        "name": environment.name,
        "connections": environment.stands_for,
        "profile": asdict(environment.profile),
        "masks": environment.masks,
        "updated_at": environment.updated_at,
    }
