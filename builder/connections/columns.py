"""Which columns rows seem to have: their names, and the narrowest Spark types that hold them."""

import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

Json = dict[str, Any]

_TIMESTAMP = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?", re.ASCII
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_FIELD = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def columns_of(rows: Iterable[Json]) -> list[dict[str, str]]:
    """The name and Spark type of each column, in the order in which they are first seen."""
    return [{"name": name, "type": type_} for name, type_ in _fields(rows).items()]


def is_timestamp(text: str) -> bool:
    """Whether this is a moment as ISO 8601 writes it."""
    return bool(_TIMESTAMP.fullmatch(text)) and _exists(datetime.fromisoformat, text)


def is_date(text: str) -> bool:
    """Whether this is a day as ISO 8601 writes it."""
    return bool(_DATE.fullmatch(text)) and _exists(date.fromisoformat, text)


def _exists(read: Any, text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


def _fields(values: Iterable[Json]) -> dict[str, str]:
    seen: dict[str, list[Any]] = {}
    for value in values:
        for name, item in value.items():
            seen.setdefault(name, []).append(item)
    return {name: _spark_type(items) for name, items in seen.items()}


def _spark_type(items: list[Any]) -> str:
    """The narrowest Spark type that holds all the items; text where there is none."""
    items = [item for item in items if item is not None]
    if not items:
        return "string"
    if all(isinstance(item, bool) for item in items):
        return "boolean"
    if any(isinstance(item, bool) for item in items):
        return "string"
    if all(isinstance(item, int) for item in items):
        return "bigint"
    if all(isinstance(item, int | float) for item in items):
        return "double"
    if all(isinstance(item, str) for item in items):
        if all(map(is_timestamp, items)):
            return "timestamp"
        return "date" if all(map(is_date, items)) else "string"
    if all(isinstance(item, list) for item in items):
        return f"array<{_spark_type([part for item in items for part in item])}>"
    if all(isinstance(item, dict) for item in items):
        fields = _fields(items)
        if fields and all(map(_FIELD.fullmatch, fields)):
            return f"struct<{','.join(f'{n}:{t}' for n, t in fields.items())}>"
        return "map<string,string>"
    return "string"
