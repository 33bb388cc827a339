"""The one-page application."""

from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe


@require_safe
@never_cache
def frontend(request: HttpRequest) -> HttpResponse | FileResponse:
    """Answer every address of the application with its one page; its own router takes over."""
    page = settings.FRONTEND / "index.html"
    if not page.is_file():
        return HttpResponse(
            "The interface is not built yet; run `make up`.", status=503, content_type="text/plain"
        )
    return FileResponse(page.open("rb"), content_type="text/html; charset=utf-8")
