"""Records of a topic as people and rehearsals take them."""

import csv
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal

from builder.connections.columns import columns_of
from builder.connections.csv_types import give_types
from builder.connections.kafka import Record
from builder.json_body import read_json

Json = dict[str, Any]
Format = Literal["json", "csv", "text", "bytes"]

# How much of a value is shown.
SHOWN = 10_000


def sample(records: Sequence[Record], format: Format | None = None) -> Json:
    """The records to look at (`rows`) and to rehearse with (`records`), and their columns.

    Values are JSON where all are JSON objects, else text; `format` says so beforehand. Of CSV,
    which names no columns, they are column1, column2…
    """
    values: list[Json | None] = [None] * len(records)
    if format == "csv":
        found, columns = "csv", columns_of(_fields(records))
    else:
        objects = [None if r.value is None else _object(r.value) for r in records]
        read = [value for value in objects if value is not None]
        is_json = bool(read) and len(read) == sum(r.value is not None for r in records)
        found = "json" if is_json else "text"
        columns = columns_of(read) if is_json else [{"name": "value", "type": "string"}]
        if format not in ("text", "bytes"):
            values = objects
    return {
        "format": found,
        "columns": columns,
        "rows": [_shown(record) for record in records],
        "records": [_given(r, value) for r, value in zip(records, values, strict=True)],
    }


def _fields(records: Sequence[Record]) -> list[Json]:
    """The fields of CSV records by their places, as what they look like; none of what is none."""
    rows: list[Json] = []
    for text in (record.value for record in records if record.value is not None):
        with suppress(csv.Error):
            cells = next(csv.reader([text]), [])
            rows.append({f"column{place}": cell for place, cell in enumerate(cells, 1)})
    give_types(rows)
    return rows


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
