"""How a request says who it is: a token, or the browser's session with its CSRF token."""

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest
from ninja.errors import AuthenticationError
from ninja.security import HttpBearer
from ninja.security.session import SessionAuth

from builder.access.actions import user_of_token


class ByToken(HttpBearer):
    """A program that sends `Authorization: Bearer <token>`."""

    def authenticate(self, request: HttpRequest, token: str) -> User:
        user = user_of_token(token)
        if user is None:
            raise AuthenticationError(message="This token is not valid, or no longer.")
        request.user = user
        return user


class BySession(SessionAuth):
    """A browser that is logged in; its writes carry the CSRF token."""

    def __call__(self, request: HttpRequest) -> Any | None:
        # Before the CSRF check, so that a stranger is told to log in.
        if not request.user.is_authenticated:
            return None
        return super().__call__(request)


IDENTITIES = [ByToken(), BySession()]


def identify(request: HttpRequest) -> User:
    """Who asks. Raises AuthenticationError (401) for a stranger."""
    for identity in IDENTITIES:
        if user := identity(request):
            return user
    raise AuthenticationError
