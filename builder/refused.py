"""Errors that are the caller's, as problem+json."""

import logging
from http import HTTPStatus
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from builder.body_limit import too_large
from runner.problems import InvalidGraph, Problem

log = logging.getLogger(__name__)


class Refused(Exception):
    """What was asked can't be done as it was asked; `detail` says why and what to do.

    `extra` is added to the answer: `problems`, the newer state of what was to be changed, or
    `retry_after`, in how many seconds to try again.
    """

    def __init__(self, status: int, detail: str, **extra: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.extra = extra


def unsound(problems: list[Problem], what: str = "The graph") -> Refused:
    """The refusal of a graph, with each problem on its step."""
    count = sum(p.severity == "error" for p in problems)
    detail = f"{what} has {count} problem{'s' if count != 1 else ''} to solve first."
    return Refused(422, detail, problems=[p.as_json() for p in problems])


def problem_json(status: int, detail: str, **extra: Any) -> HttpResponse:
    """An error as RFC 9457 writes it."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        **extra,
    }
    answer = JsonResponse(body, status=status, content_type="application/problem+json")
    if "retry_after" in extra:
        answer["Retry-After"] = str(extra["retry_after"])
    return answer


def no_such_call(request: HttpRequest) -> HttpResponse:
    """Answer an address below /api/ that is none."""
    return problem_json(404, "There is no such call; /api/docs lists those there are.")


def our_fault(request: HttpRequest) -> HttpResponse:
    """Answer where an error of ours kept us from answering (it is logged)."""
    return problem_json(500, "An error of ours, which we have logged, kept us from answering.")


def answer_with_problem_json(api: NinjaAPI) -> None:
    """Make every error of this API a problem+json."""

    @api.exception_handler(Refused)
    def refused(request: HttpRequest, error: Refused) -> HttpResponse:
        return problem_json(error.status, error.detail, **error.extra)

    @api.exception_handler(InvalidGraph)
    def invalid_graph(request: HttpRequest, error: InvalidGraph) -> HttpResponse:
        return refused(request, unsound(error.problems))

    @api.exception_handler(HttpError)
    def http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
        # Ninja wraps what its parser raises.
        if isinstance(error.__cause__, Refused):
            return refused(request, error.__cause__)
        return problem_json(error.status_code, _sentences.get(str(error), str(error)))

    @api.exception_handler(Http404)
    def not_found(request: HttpRequest, error: Http404) -> HttpResponse:
        return problem_json(404, "There is nothing here, or nothing that you may see.")

    @api.exception_handler(OperationalError)
    def database_away(request: HttpRequest, error: OperationalError) -> HttpResponse:
        log.error("The database does not answer: %s", error)
        return problem_json(503, "The database does not answer; jobs go on. Try again in a moment.")

    @api.exception_handler(RequestDataTooBig)
    def too_big(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
        return problem_json(413, too_large(request.path))

    @api.exception_handler(ValidationError)
    def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
        problems = [_field_problem(e).as_json() for e in error.errors]
        detail = "; ".join(f"{p['field'] or 'request'}: {p['message']}" for p in problems[:5])
        return problem_json(422, detail, problems=problems)


_sentences = {
    "CSRF check Failed": "The X-CSRFToken header is missing or old; GET /api/me sets the cookie.",
    "Unauthorized": "Log in, or send a token.",
}


def _field_problem(error: dict[str, Any]) -> Problem:
    # Of ("body", "body", "graph") people know only the last.
    path = [str(p)[:70] for p in error["loc"] if p not in ("body", "query", "path", "payload")]
    message = (
        "This is not a field here; remove it."
        if error["type"] == "extra_forbidden"
        else (f"{error['msg'][:300].rstrip('.')}.")
    )
    return Problem(None, ".".join(path)[:200] or None, message)
