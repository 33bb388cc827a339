"""Request bodies: JSON, strictly."""

import json
import math
import re
from typing import Any

from django.http import HttpRequest
from ninja.parser import Parser

from builder.body_limit import most_bytes, too_large
from builder.refused import Refused

MAX_DEPTH = 64
# What JavaScript and both databases hold exactly enough.
MAX_INTEGER = 2**63 - 1
WHITESPACE = " \t\n\r"
_UNKEEPABLE = re.compile("[\0\ud800-\udfff]")


class NotKeepable(ValueError):
    """JSON that not all of JavaScript, Python and the databases agree on; it says why."""


class JsonBody(Parser):
    """Reads what JSON, Python and the databases agree on, and refuses the rest by name."""

    def parse_body(self, request: HttpRequest) -> Any:
        if request.content_type != "application/json":
            raise Refused(415, "Send JSON, with the header Content-Type: application/json.")
        if len(request.body) > most_bytes(request.path):
            raise Refused(413, too_large(request.path))
        try:
            text = request.body.decode()
        except UnicodeDecodeError:
            raise Refused(400, "The request is not UTF-8.") from None
        try:
            return read_json(text)
        except json.JSONDecodeError as error:
            at = f"line {error.lineno}, column {error.colno}"
            raise Refused(400, f"The request is not JSON: {error.msg} at {at}.") from None
        except NotKeepable as error:
            raise Refused(400, str(error)) from None


def read_json(text: str) -> Any:
    """The value of a JSON text. Raises JSONDecodeError, or NotKeepable."""
    value, end = read_json_at(text, len(text) - len(text.lstrip(WHITESPACE)))
    rest = text[end:].lstrip(WHITESPACE)
    if rest:
        raise json.JSONDecodeError("Extra data", text, len(text) - len(rest))
    return value


def read_json_at(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that begins here, and where it ends. Raises as `read_json` does."""
    try:
        value, end = _decoder.raw_decode(text, start)
    except RecursionError:
        raise _too_deep() from None
    _check_values(value)
    return value, end


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
                raise NotKeepable("A text holds NUL or half of a surrogate pair; remove it.")
        level = below


def _too_deep() -> NotKeepable:
    return NotKeepable(f"Values are nested deeper than {MAX_DEPTH} levels.")


def _no_constant(text: str) -> None:
    raise NotKeepable(f"{text} is no number in JSON.")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NotKeepable(f"{text[:30]} is too large a number.")
    return number


def _int(text: str) -> int:
    if len(text) > 20 or abs(int(text)) > MAX_INTEGER:
        raise NotKeepable(f"{text[:30]} is too large a number.")
    return int(text)


_decoder = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite, parse_int=_int)
