"""Requests of people and programs that have said who they are."""

from django.contrib.auth.models import User
from django.http import HttpRequest


class Request(HttpRequest):
    """A request to the API; `auth` is who asks."""

    auth: User


def user_of(request: HttpRequest) -> User:
    """Who is logged in, on a page that needs a login."""
    assert isinstance(request.user, User)
    return request.user
