"""Records of a topic as people and rehearsals take them."""

import csv
import re
from collections.abc import Sequence
from typing import Any, Literal

from builder.connections.columns import columns_of
from builder.connections.kafka import Record
from builder.json_body import read_json

Json = dict[str, Any]
Format = Literal["json", "csv", "text", "bytes"]

_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)

# How much of a value is shown.
SHOWN = 10_000


def sample(records: Sequence[Record], format: Format | None = None) -> Json:
    """The records to look at (`rows`) and to rehearse with (`records`), and their columns.

    Values are JSON where all are JSON objects, else text; `format` says so beforehand. Of CSV,
    which names no columns, they are column1, column2…
    """
    if format == "csv":
        return _answer(records, "csv", columns_of(map(_fields, _texts(records))), None)
    values = [None if r.value is None else _object(r.value) for r in records]
    objects = [value for value in values if value is not None]
    is_json = bool(objects) and len(objects) == sum(r.value is not None for r in records)
    columns = columns_of(objects) if is_json else [{"name": "value", "type": "string"}]
    as_they_are = format in ("text", "bytes")
    return _answer(records, "json" if is_json else "text", columns, None if as_they_are else values)


def _answer(
    records: Sequence[Record], format: str, columns: list[Json], values: list[Json | None] | None
) -> Json:
    read = values or [None] * len(records)
    return {
        "format": format,
        "columns": columns,
        "rows": [_shown(record) for record in records],
        "records": [_given(r, value) for r, value in zip(records, read, strict=True)],
    }


def _texts(records: Sequence[Record]) -> list[str]:
    return [record.value for record in records if record.value is not None]


def _fields(line: str) -> Json:
    """The fields of a CSV record by their places, as what they look like; none of what is none."""
    try:
        read = next(csv.reader([line]), [])
    except csv.Error:
        return {}
    return {f"column{place}": _looks_like(field) for place, field in enumerate(read, 1)}


def _looks_like(field: str) -> object:
    if field in ("true", "false"):
        return field == "true"
    if _WHOLE.fullmatch(field):
        return int(field)
    return float(field) if _NUMBER.fullmatch(field) else field or None


def _shown(record: Record) -> Json:
    return {
        "_partition": record.partition,
        "_offset": record.offset,
        "_timestamp": record.timestamp,
        "_key": record.key,
        "_value": record.value and record.value[:SHOWN],
    }


def _given(record: Record, value: Json | None) -> Json:
    about: Json = {"_key": record.key, "_timestamp": record.timestamp}
    if record.value is None:
        return {**about, "_deleted": True}
    # A rehearsal takes names that begin with an underscore to be about the row.
    if value is None or any(name.startswith("_") for name in value):
        return {"value": record.value, **about}
    return {**value, **about}


def _object(text: str) -> Json | None:
    try:
        value = read_json(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
