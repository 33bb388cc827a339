"""What the cells of a CSV text are, told from all cells of a column."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from builder.json_body import MAX_INTEGER

_INTEGER = re.compile(r"-?(0|[1-9]\d{0,18})", re.ASCII)
# With no more digits before the point than a double holds.
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,17})?([eE][+-]?\d{1,2})?", re.ASCII)
_BOOLEANS = {"true": True, "false": False}


def give_types(rows: Sequence[dict[str, Any]]) -> None:
    """Turn the cells of each column into what all of them are; empty ones are null."""
    for name in dict.fromkeys(name for row in rows for name in row):
        having = [row for row in rows if name in row]
        filled = [row[name] for row in having if row[name] != ""]
        # The key of a record is a text, whatever it looks like.
        read = str if name == "_key" else _reading(filled)
        for row in having:
            row[name] = None if row[name] == "" else read(row[name])


def _reading(cells: list[str]) -> Callable[[str], Any]:
    if cells and all(cell.lower() in _BOOLEANS for cell in cells):
        return lambda cell: _BOOLEANS[cell.lower()]
    if all(_INTEGER.fullmatch(cell) and abs(int(cell)) <= MAX_INTEGER for cell in cells):
        return int
    return float if all(map(_NUMBER.fullmatch, cells)) else str
