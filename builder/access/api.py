from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.middleware.csrf import get_token
from ninja import Field, Query, Router, Status

from builder.access import actions
from builder.access.identity import identify
from builder.access.models import Token
from builder.access.permissions import may, visible
from builder.connections.models import Connection
from builder.deployments.models import Deployment
from builder.paging import Page
from builder.pipelines.models import Pipeline
from builder.request import Request
from builder.schema import Body, Schema

router = Router(tags=["access"])


class Credentials(Body):
    username: str = Field(max_length=150)
    password: str = Field(max_length=1000)


class NewToken(Credentials):
    name: str = Field("token", min_length=1, max_length=100)


class May(Schema):
    pipelines: bool
    connections: bool
    deployments: bool
    admin: bool


class Me(Schema):
    username: str
    name: str
    may: May


class TokenOut(Schema):
    id: UUID
    name: str
    created_at: datetime
    used_at: datetime | None


class Tokens(Schema):
    items: list[TokenOut]
    count: int


class MadeToken(Schema):
    id: UUID
    name: str
    token: str


def _me(user: Any) -> dict[str, Any]:
    return {
        "username": user.username,
        "name": user.get_full_name() or user.username,
        "may": {
            "pipelines": may(user, "change", Pipeline),
            "connections": may(user, "change", Connection),
            "deployments": may(user, "change", Deployment),
            "admin": user.is_staff,
        },
    }


# JSON can't be sent across sites without asking first, so logging in needs no CSRF token.
@router.post("/login", auth=None, response=Me, summary="Log in")
def login(request: HttpRequest, body: Credentials) -> Any:
    """Begin a browser session."""
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
        request, body.username, body.password, body.name
    )
    return Status(201, {"id": token.id, "name": token.name, "token": secret})


@router.get("/tokens", response=Tokens, summary="List tokens")
def list_tokens(request: Request, page: Query[Page]) -> Any:
    """List one's own tokens."""
    return page.of(visible(request.auth, Token.objects.filter(user=request.auth)))


@router.delete("/tokens/{uuid:token_id}", response={204: None}, summary="Revoke a token")
def revoke_token(request: Request, token_id: UUID) -> Any:
    """Make a token worthless at once."""
    actions.revoke_token(request.auth, token_id)
    return Status(204, None)
