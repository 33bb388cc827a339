"""Records of a topic as people and rehearsals take them."""

from collections.abc import Sequence
from typing import Any, Literal

from builder.connections.columns import columns_of
from builder.connections.kafka import Record
from builder.json_body import read_json

Json = dict[str, Any]
Format = Literal["json", "text"]

# How much of a value is shown.
SHOWN = 10_000


def sample(records: Sequence[Record], format: Format | None = None) -> Json:
    """The records to look at (`rows`) and to rehearse with (`records`), and their columns.

    Values are JSON where all are JSON objects, else text; `format` says so beforehand.
    """
    values = [None if r.value is None else _object(r.value) for r in records]
    objects = [value for value in values if value is not None]
    is_json = bool(objects) and len(objects) == sum(r.value is not None for r in records)
    columns = columns_of(objects) if is_json else [{"name": "value", "type": "string"}]
    if format == "text":
        values = [None] * len(values)
    return {
        "format": "json" if is_json else "text",
        "columns": columns,
        "rows": [_shown(record) for record in records],
        "records": [_given(r, value) for r, value in zip(records, values, strict=True)],
    }


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
