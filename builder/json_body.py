"""Request bodies: JSON, strictly."""

import json
import math
import re
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from ninja.parser import Parser

from builder.refused import Refused

MAX_DEPTH = 64
# What JavaScript and both databases hold exactly enough.
MAX_INTEGER = 2**63 - 1
_UNKEEPABLE = re.compile("[\0\ud800-\udfff]")


class JsonBody(Parser):
    """Reads what JSON, Python and the databases agree on, and refuses the rest by name."""

    def parse_body(self, request: HttpRequest) -> Any:
        if request.content_type != "application/json":
            raise Refused(415, "Send JSON, with the header Content-Type: application/json.")
        if len(request.body) > settings.MAX_BODY:
            raise Refused(413, "The request is larger than 4 MB.")
        try:
            text = request.body.decode()
        except UnicodeDecodeError:
            raise Refused(400, "The request is not UTF-8.") from None
        try:
            value = json.loads(
                text, parse_constant=_no_constant, parse_float=_finite, parse_int=_int
            )
        except RecursionError:
            raise _too_deep() from None
        except json.JSONDecodeError as error:
            at = f"line {error.lineno}, column {error.colno}"
            raise Refused(400, f"The request is not JSON: {error.msg} at {at}.") from None
        _check_values(value)
        return value


def _check_values(value: Any) -> None:
    level, depth = [value], 0
    while level:
        if depth > MAX_DEPTH:
            raise _too_deep()
        depth += 1
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item)
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
            elif isinstance(item, str) and _UNKEEPABLE.search(item):
                raise Refused(400, "A text holds NUL or half of a surrogate pair; remove it.")
        level = below


def _too_deep() -> Refused:
    return Refused(400, f"Values are nested deeper than {MAX_DEPTH} levels.")


def _no_constant(text: str) -> None:
    raise Refused(400, f"{text} is no number in JSON.")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise Refused(400, f"{text[:30]} is too large a number.")
    return number


def _int(text: str) -> int:
    if len(text) > 20 or abs(int(text)) > MAX_INTEGER:
        raise Refused(400, f"{text[:30]} is too large a number.")
    return int(text)
