"""From where a request comes: noted as it arrives, read where activity is recorded."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from ipaddress import ip_address

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

from builder.access.models import Activity


@dataclass(frozen=True)
class Origin:
    """The address that asked, and how: None and Headrace itself where nobody asked."""

    address: str | None = None
    via: str = Activity.Via.HEADRACE


_origin: ContextVar[Origin] = ContextVar("origin")


def origin() -> Origin:
    """From where what is done now was asked."""
    return _origin.get(Origin())


def address_of(request: HttpRequest) -> str | None:
    """The address that a request came from, None where there is none, as on a socket file."""
    text = request.META.get("REMOTE_ADDR", "").partition("%")[0]
    try:
        return str(ip_address(text))
    except ValueError:
        return None


@sync_and_async_middleware
def note_origin(
    get_response: Callable[[HttpRequest], HttpResponse | Awaitable[HttpResponse]],
) -> Callable[[HttpRequest], HttpResponse | Awaitable[HttpResponse]]:
    """Note from where each request comes for as long as it is answered."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponse:
            noted = _origin.set(_origin_of(request))
            try:
                return await get_response(request)
            finally:
                _origin.reset(noted)

        return answer_async

    def answer(request: HttpRequest) -> HttpResponse:
        noted = _origin.set(_origin_of(request))
        try:
            return get_response(request)  # type: ignore[return-value]
        finally:
            _origin.reset(noted)

    return answer


def _origin_of(request: HttpRequest) -> Origin:
    if request.path.startswith("/admin/"):
        via = Activity.Via.ADMIN
    elif request.headers.get("Authorization", "").lower().startswith("bearer "):
        via = Activity.Via.TOKEN
    else:
        via = Activity.Via.SESSION
    return Origin(address_of(request), via)
