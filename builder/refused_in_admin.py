"""What an action refuses is told on the admin's page that asked for it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.deprecation import MiddlewareMixin

from builder.refused import Refused


class RefusedInAdmin(MiddlewareMixin):
    """Show the sentence of a refusal in the admin, where it would be an error of ours."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Lead back to the page that asked; leave everything else to Django."""
        asks_in_admin = request.path.startswith("/admin/") and request.method == "POST"
        if not (asks_in_admin and isinstance(exception, Refused)):
            return None
        messages.error(request, exception.detail)
        return HttpResponseRedirect(request.path)

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Answer a locked login as the API does; its page says so in words."""
        refused = getattr(request, "refused", None)
        if isinstance(refused, Refused) and "retry_after" in refused.extra:
            response.status_code = refused.status
            response["Retry-After"] = str(refused.extra["retry_after"])
        return response
