"""Rows out of text that people paste or upload: JSON lines, a JSON array, CSV."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Literal

from builder.connections.columns import columns_of
from builder.connections.csv_types import give_types
from builder.json_body import WHITESPACE, NotKeepable, read_json, read_json_at
from builder.refused import Refused

Json = dict[str, Any]
Format = Literal["json_lines", "json", "csv"]
# A row with the line it begins in, or what is wrong there.
Line = tuple[int, Json | str]

MOST_ROWS = 10_000
MOST_BYTES = 5 * 1024**2
MOST_PROBLEMS = 100
NOT_READ = "What follows was not read."

# One cell may be all of the text.
csv.field_size_limit(MOST_BYTES)
_DELIMITERS = ",;\t|"


def parse_rows(text: str, format: Literal["auto", "json_lines", "json", "csv"]) -> Json:
    """The rows of a text with the columns they seem to have, and each line that is no row.

    Raises Refused: 413 for more than 5 MB, 422 for more than 10,000 rows.
    """
    if len(text.encode()) > MOST_BYTES:
        raise Refused(
            413, f"The text is larger than {MOST_BYTES // 1024**2} MB; take a part of it."
        )
    text = text.removeprefix("\ufeff")
    chosen = _format_of(text) if format == "auto" else format
    rows: list[Json] = []
    problems: list[Json] = []
    for line, found in _READERS[chosen](text):
        if isinstance(found, dict):
            rows.append(found)
        elif len(problems) < MOST_PROBLEMS:
            problems.append({"line": line, "message": found})
        else:
            message = f"{MOST_PROBLEMS} rows above could not be read. {NOT_READ}"
            problems.append({"line": line, "message": message})
            break
        if len(rows) > MOST_ROWS:
            raise Refused(422, f"These are more than {MOST_ROWS:,} rows; take a part of them.")
    if chosen == "csv":
        give_types(rows)
    named = ({n: v for n, v in row.items() if not n.startswith("_")} for row in rows)
    return {"format": chosen, "rows": rows, "columns": columns_of(named), "problems": problems}


def _format_of(text: str) -> Format:
    begin = text.lstrip(WHITESPACE)
    if begin.startswith("["):
        return "json"
    if not begin.startswith("{"):
        return "csv"
    # One object over many lines is no JSON lines.
    first = begin.split("\n", 1)[0]
    return "json" if isinstance(_row_of(first), str) and _is_json(begin) else "json_lines"


def _is_json(text: str) -> bool:
    try:
        read_json(text)
    except ValueError:
        return False
    return True


# --- JSON


def _json_lines(text: str) -> Iterator[Line]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, _row_of(line)


def _row_of(text: str) -> Json | str:
    try:
        return _as_row(read_json(text))
    except json.JSONDecodeError as error:
        return f"This is not JSON: {error.msg} at column {error.colno}."
    except NotKeepable as error:
        return str(error)


def _as_row(value: Any) -> Json | str:
    if isinstance(value, dict):
        return value
    return 'A row is an object with a value for each column, as {"name": "value"}.'


def _json_array(text: str) -> Iterator[Line]:
    """The objects of an array one by one, so that each has its line; or the one object."""
    reader = _Reader(text)
    try:
        if not reader.take("["):
            yield reader.value()
            if not reader.at_end():
                yield reader.line(), "There is more behind the object; write an array, [ … ]."
            return
        if not reader.take("]"):
            yield reader.value()
            while reader.take(","):
                yield reader.value()
            if not reader.take("]"):
                message = "A comma between two rows, or ] behind the last, is missing."
                yield reader.line(), f"{message} {NOT_READ}"
                return
        if not reader.at_end():
            yield reader.line(), "There is more behind the array; remove it."
    except json.JSONDecodeError as error:
        message = f"This is not JSON: {error.msg} at column {error.colno}. {NOT_READ}"
        yield error.lineno, message
    except NotKeepable as error:
        yield reader.line(), f"{error} {NOT_READ}"


class _Reader:
    """Goes through a JSON text, value by value."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._counted = 0
        self._lines = 1

    def take(self, sign: str) -> bool:
        """Go past this sign if it comes next."""
        self._skip()
        if not self.text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        return True

    def value(self) -> Line:
        """The next value, with its line."""
        self._skip()
        line = self.line()
        value, self.at = read_json_at(self.text, self.at)
        return line, _as_row(value)

    def at_end(self) -> bool:
        self._skip()
        return self.at == len(self.text)

    def line(self) -> int:
        self._lines += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._lines

    def _skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in WHITESPACE:
            self.at += 1


# --- CSV


def _csv(text: str) -> Iterator[Line]:
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=_delimiter(text), strict=True)
    names: list[str] | None = None
    end = 0
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield end + 1, f"This is not CSV: {error}. {NOT_READ}"
            return
        begin, end = end + 1, reader.line_num
        if not any(cell.strip() for cell in cells):
            continue
        if names is None:
            names = [cell.strip() or f"column_{n}" for n, cell in enumerate(cells, 1)]
            if twice := next((n for n, times in Counter(names).items() if times > 1), None):
                yield begin, f"Two columns are called {twice[:63]}; rename one."
                return
        elif len(cells) != len(names):
            is_one = len(cells) == 1
            yield (
                begin,
                (
                    f"There {'is 1 value' if is_one else f'are {len(cells)} values'} "
                    f"for {len(names)} column{'' if len(names) == 1 else 's'}."
                ),
            )
        else:
            yield begin, dict(zip(names, cells, strict=True))


def _delimiter(text: str) -> str:
    """The one that parts the first lines into as many cells each; a comma where none does."""
    lines = list(islice((line for line in text.splitlines() if line.strip()), 20))

    def parts(delimiter: str) -> tuple[bool, int]:
        counts = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        return len(set(counts)) <= 1, counts[0] if counts else 0

    def fitness(delimiter: str) -> tuple[bool, bool, int]:
        is_even, cells = parts(delimiter)
        return cells > 1, is_even, cells

    return max(_DELIMITERS, key=fitness)


_READERS: dict[Format, Callable[[str], Iterator[Line]]] = {
    "json_lines": _json_lines,
    "json": _json_array,
    "csv": _csv,
}
