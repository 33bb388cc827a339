"""Security headers on every answer."""

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

PAGE = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws: wss:; "
    "worker-src 'self' blob:; object-src 'none'; base-uri 'self'; form-action 'self'; "
    "frame-ancestors 'none'"
)
# The admin's Alpine.js evaluates the expressions in its templates.
ADMIN = PAGE.replace("script-src 'self'", "script-src 'self' 'unsafe-inline' 'unsafe-eval'")


@sync_and_async_middleware
def security_headers(
    get_response: Callable[[HttpRequest], HttpResponse | Awaitable[HttpResponse]],
) -> Callable[[HttpRequest], HttpResponse | Awaitable[HttpResponse]]:
    """Add the Content-Security-Policy of the page that is asked for, and its companions."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponse:
            return _with_headers(request, await get_response(request))

        return answer_async

    def answer(request: HttpRequest) -> HttpResponse:
        return _with_headers(request, get_response(request))  # type: ignore[arg-type]

    return answer


def _with_headers(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    policy = ADMIN if request.path.startswith("/admin/") else PAGE
    response.headers.setdefault("Content-Security-Policy", policy)
    response.headers.setdefault(
        "Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=()"
    )
    if request.path.startswith("/api/"):
        response.headers.setdefault("Cache-Control", "no-store")
    return response
