from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.middleware.csrf import get_token
from ninja import Field, Query, Router, Status
from pydantic import AwareDatetime

from builder.access import actions
from builder.access.identity import identify
from builder.access.models import Grant, Token
from builder.access.permissions import grants_of, may_somewhere, visible
from builder.access.roles import SCOPES, Role, Scope
from builder.connections.models import Connection
from builder.deployments.models import Deployment
from builder.paging import Page
from builder.pipelines.models import Pipeline
from builder.request import Request
from builder.schema import Body, FolderName, Schema

router = Router(tags=["access"])


class Credentials(Body):
    username: str = Field(max_length=150)
    password: str = Field(max_length=1000)


class NewToken(Credentials):
    name: str = Field("token", min_length=1, max_length=100)
    scopes: list[Scope] = Field(
        list(SCOPES),
        min_length=1,
        max_length=len(SCOPES),
        description="It does at most what these let through, and what its user may do",
    )
    expires_at: AwareDatetime | None = Field(None, description="Never, where left out")


class May(Schema):
    """What one may do somewhere, though perhaps not everywhere."""

    pipelines: bool
    connections: bool
    deployments: bool
    admin: bool = Field(description="Whether the Django admin is open")


class Held(Schema):
    role: Role
    folder: str | None
    pipeline: UUID | None


class Me(Schema):
    username: str
    name: str
    may: May
    superuser: bool = Field(False, description="Whether one may do everything, without any role")
    roles: list[Held] = Field(
        [], description="One's own and one's groups'; without folder and pipeline, on everything"
    )


class TokenOut(Schema):
    id: UUID
    name: str
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None


class Tokens(Schema):
    items: list[TokenOut]
    count: int


class MadeToken(Schema):
    id: UUID
    name: str
    token: str


class GrantIn(Body):
    role: Role
    user: str | None = Field(None, max_length=150, description="A user's name; or give a group")
    group: str | None = Field(None, max_length=150)
    folder: FolderName = Field("", description="Without folder and pipeline: on everything")
    pipeline: UUID | None = None


class GrantedPipeline(Schema):
    id: UUID
    name: str


class GrantOut(Schema):
    id: UUID
    role: Role
    user: str | None
    group: str | None
    folder: str | None
    pipeline: GrantedPipeline | None
    granted_by: str | None
    created_at: datetime


class Grants(Schema):
    items: list[GrantOut]
    count: int


def _me(user: Any) -> dict[str, Any]:
    return {
        "username": user.username,
        "name": user.get_full_name() or user.username,
        "may": {
            "pipelines": may_somewhere(user, "change", Pipeline),
            "connections": may_somewhere(user, "change", Connection),
            "deployments": may_somewhere(user, "change", Deployment),
            "admin": user.is_staff,
        },
        "superuser": user.is_superuser,
        "roles": [
            {"role": g.role, "folder": g.folder or None, "pipeline": g.pipeline_id}
            for g in grants_of(user)
        ],
    }


# JSON can't be sent across sites without asking first, so logging in needs no CSRF token.
@router.post("/login", auth=None, response=Me, summary="Log in")
def login(request: HttpRequest, body: Credentials) -> Any:
    """Begin a browser session; 429 with Retry-After where too many passwords were wrong."""
    return _me(actions.log_in(request, body.username, body.password))


@router.post("/logout", response={204: None}, summary="Log out")
def logout(request: HttpRequest) -> Any:
    """End the browser session."""
    actions.log_out(request)
    return Status(204, None)


@router.get("/me", auth=None, response=Me, summary="Who am I")
def get_me(request: HttpRequest) -> Any:
    """Answer who is logged in and what they may do; sets the CSRF cookie in any case."""
    get_token(request)
    return _me(identify(request))


@router.post("/tokens", auth=None, response={201: MadeToken}, summary="Make a token")
def create_token(request: HttpRequest, body: NewToken) -> Any:
    """Make a token for a program; the answer is the only place that shows it."""
    token, secret = actions.make_token_with_password(
        request, body.username, body.password, body.name, body.scopes, body.expires_at
    )
    return Status(201, {"id": token.id, "name": token.name, "token": secret})


@router.get("/tokens", response=Tokens, summary="List tokens")
def list_tokens(request: Request, page: Query[Page]) -> Any:
    """List one's own tokens."""
    return page.of(Token.objects.filter(user=request.auth))


@router.delete("/tokens/{uuid:token_id}", response={204: None}, summary="Revoke a token")
def revoke_token(request: Request, token_id: UUID) -> Any:
    """Make a token worthless at once."""
    actions.revoke_token(request.auth, token_id)
    return Status(204, None)


def _grant(grant: Grant) -> dict[str, Any]:
    pipeline = grant.pipeline
    return {
        "id": grant.id,
        "role": grant.role,
        "user": grant.user and grant.user.get_username(),
        "group": grant.group and grant.group.name,
        "folder": grant.folder or None,
        "pipeline": pipeline and {"id": pipeline.pk, "name": pipeline.name},
        "granted_by": grant.granted_by and grant.granted_by.get_username(),
        "created_at": grant.created_at,
    }


@router.get("/grants", response=Grants, summary="List who has which role")
def list_grants(request: Request, page: Query[Page]) -> Any:
    """List the grants on all that one administers, newest first."""
    rows = Grant.objects.select_related("user", "group", "pipeline", "granted_by")
    found = page.of(visible(request.auth, rows))
    found["items"] = [_grant(grant) for grant in found["items"]]
    return found


@router.post("/grants", response={201: GrantOut}, summary="Grant a role")
def create_grant(request: Request, body: GrantIn) -> Any:
    """Give a role to a user or a group: on everything, on a folder or on a pipeline."""
    wanted = actions.Wanted(body.role, body.user, body.group, body.folder, body.pipeline)
    return Status(201, _grant(actions.grant(request.auth, wanted)))


@router.delete("/grants/{uuid:grant_id}", response={204: None}, summary="Take a role away")
def delete_grant(request: Request, grant_id: UUID) -> Any:
    """Take a role away; websockets that stand on it close."""
    actions.revoke(request.auth, grant_id)
    return Status(204, None)
