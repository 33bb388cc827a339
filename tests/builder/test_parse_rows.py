"""Pasted and uploaded text as rows: whatever is a row comes out, whatever is not is said."""

import json
import time
from typing import Any

import pytest

PEOPLE = [{"name": "Ada", "born": 1815}, {"name": "Bob", "born": None}]


def lines(rows: list[Any]) -> str:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


# The text, and what it is read as: format, rows, the types of the columns.
READ: dict[str, tuple[str, str, list[Any], str]] = {
    "nothing": ("", "csv", [], ""),
    "JSON lines": (lines(PEOPLE), "json_lines", PEOPLE, "name string, born bigint"),
    "JSON lines with gaps": (
        f"\ufeff\r\n{lines(PEOPLE)}\r\n\r\n".replace("\n{", "\r\n  {"),
        "json_lines", PEOPLE, "name string, born bigint",
    ),
    "one line": ('{"a": 1}', "json_lines", [{"a": 1}], "a bigint"),
    "an array": (json.dumps(PEOPLE), "json", PEOPLE, "name string, born bigint"),
    "an array over lines": (
        json.dumps(PEOPLE, indent=2), "json", PEOPLE, "name string, born bigint",
    ),
    "an empty array": (" [ ] ", "json", [], ""),
    "one object over lines": (
        json.dumps(PEOPLE[0], indent=2), "json", PEOPLE[:1], "name string, born bigint",
    ),
    "nested": (
        '{"a": {"b": [1, 2.5]}, "at": "2026-01-01T00:00:00Z", "day": "2026-01-01"}', "json_lines",
        [{"a": {"b": [1, 2.5]}, "at": "2026-01-01T00:00:00Z", "day": "2026-01-01"}],
        "a struct<b:array<double>>, at timestamp, day date",
    ),
    "about the record": (
        '{"a": 1, "_key": "k", "_batch": 2, "_deleted": true}', "json_lines",
        [{"a": 1, "_key": "k", "_batch": 2, "_deleted": True}], "a bigint",
    ),
    "CSV": (
        "name,n,x,ok,at,day\nAda,1,2.5,true,2026-01-01T00:00:00Z,2026-01-01\nBob,,3,FALSE,,\n",
        "csv",
        [
            {"name": "Ada", "n": 1, "x": 2.5, "ok": True, "at": "2026-01-01T00:00:00Z",
             "day": "2026-01-01"},
            {"name": "Bob", "n": None, "x": 3.0, "ok": False, "at": None, "day": None},
        ],
        "name string, n bigint, x double, ok boolean, at timestamp, day date",
    ),
    "CSV with semicolons": (
        "a;b\r\n1,5;x\r\n2,5;y\r\n", "csv",
        [{"a": "1,5", "b": "x"}, {"a": "2,5", "b": "y"}], "a string, b string",
    ),
    "CSV with tabs": ("a\tb\n1\t2", "csv", [{"a": 1, "b": 2}], "a bigint, b bigint"),
    "CSV in quotes": (
        'a,b\n"x, ""y""\nz",1\n\n"\u2028",2', "csv",
        [{"a": 'x, "y"\nz', "b": 1}, {"a": "\u2028", "b": 2}], "a string, b bigint",
    ),
    "one column": ("word\nto\nbe", "csv", [{"word": "to"}, {"word": "be"}], "word string"),
    "names that are missing": ("a,,\n1,2,3", "csv", [{"a": 1, "column_2": 2, "column_3": 3}],
                               "a bigint, column_2 bigint, column_3 bigint"),
    "only a header": ("a,b\n", "csv", [], ""),
    "an empty column": ("a,b\n1,\n2,", "csv", [{"a": 1, "b": None}, {"a": 2, "b": None}],
                        "a bigint, b string"),
    "numbers that are names": (
        "zip,id,big,_key\n01234,12345678901234567890,9223372036854775807,1.50\n", "csv",
        [{"zip": "01234", "id": "12345678901234567890", "big": 9223372036854775807,
          "_key": "1.50"}],
        "zip string, id string, big bigint",
    ),
    "mixed": ("a\n1\nx\n", "csv", [{"a": "1"}, {"a": "x"}], "a string"),
    "numbers of all kinds": (
        "a\n-1\n2.5e3\n0.1", "csv", [{"a": -1.0}, {"a": 2500.0}, {"a": 0.1}], "a double",
    ),
    "not numbers": ("a\nNaN\ninf\n1_000\n٣", "csv",
                    [{"a": "NaN"}, {"a": "inf"}, {"a": "1_000"}, {"a": "٣"}], "a string"),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("asked", ["auto", None])
def test_read(name: str, asked: str | None, api: Any) -> None:
    text, format_, rows, types = READ[name]
    told = api.post("/rows/parse", {"text": text, "format": asked or format_})
    assert told["problems"] == []
    assert (told["format"], told["rows"]) == (format_, rows)
    assert ", ".join(f"{c['name']} {c['type']}" for c in told["columns"]) == types


# The text, its format, how many rows come out, and the lines and words of the problems.
WRONG: dict[str, tuple[str, str, int, list[tuple[int, str]]]] = {
    "no JSON": ('{"a": 1}\n{"a": \n\n{"a": 3}', "json_lines", 2, [(2, "Expecting value at")]),
    "no object": ('{"a": 1}\n7\n[1]', "json_lines", 1, [(2, "object"), (3, "object")]),
    "more than an object": ('{"a": 1} {"a": 2}', "json_lines", 0, [(1, "Extra data at column 10")]),
    "no number": ('{"a": NaN}\n{"a": 1e999}\n{}', "json_lines", 1, [(1, "NaN"), (2, "1e999")]),
    "half a pair": ('{"a": "\\ud800"}\n{"\\u0000": 1}', "json_lines", 0, [(1, "NUL"), (2, "NUL")]),
    "too deep": ('{"a": ' + "[" * 5000 + "]" * 5000 + "}", "json_lines", 0, [(1, "nested")]),
    "no object in an array": ('[\n{"a": 1},\n7,\n{"a": 2}]', "json", 2, [(3, "object")]),
    "a broken array": ('[\n{"a": 1},\n{"a" 2},\n{}]', "json", 1, [(3, "not JSON")]),
    "an array that ends early": ('[{"a": 1}\n', "json", 1, [(2, "missing")]),
    "no comma": ('[{"a": 1}\n{"a": 2}]', "json", 1, [(2, "comma")]),
    "a comma too many": ('[{"a": 1},\n]', "json", 1, [(2, "Expecting value")]),
    "behind the array": ('[{"a": 1}]\n\n7', "json", 1, [(3, "more behind")]),
    "two objects": ('{"a": 1}\n{"a": 2}', "json", 1, [(2, "more behind")]),
    "nothing as JSON": ("", "json", 0, [(1, "Expecting value")]),
    "too many cells": ("a,b\n1,2,3\n\n4,5", "csv", 1, [(2, "3 values for 2 columns")]),
    "too few cells": ('a,b\n"x\ny",2\n1\n', "csv", 1, [(4, "1 value for 2 columns")]),
    "a quote that stays open": ('a,b\n1,2\n"x,3\n4,5', "csv", 1, [(3, "unexpected end")]),
    "a name twice": ("a,b,a\n1,2,3", "csv", 0, [(1, "called a")]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_row_is_said(name: str, api: Any) -> None:
    text, format_, count, problems = WRONG[name]
    told = api.post("/rows/parse", {"text": text, "format": format_})
    assert len(told["rows"]) == count
    assert [p["line"] for p in told["problems"]] == [line for line, _ in problems]
    for problem, (_, words) in zip(told["problems"], problems, strict=True):
        assert words in problem["message"]


def test_only_the_first_problems_are_told(api: Any) -> None:
    begun = time.monotonic()
    told = api.post("/rows/parse", {"text": "x\n" * 2_000_000, "format": "json_lines"})
    assert time.monotonic() - begun < 3
    assert len(told["problems"]) == 101
    assert told["problems"][-1]["line"] == 101
    assert "not read" in told["problems"][-1]["message"]


@pytest.mark.parametrize("format_", ["json_lines", "json", "csv"])
def test_rows_have_a_limit(format_: str, api: Any) -> None:
    def text(count: int) -> str:
        if format_ == "csv":
            return "a,b\n" + "1,x\n" * count
        rows = [{"a": 1, "b": "x"}] * count
        return lines(rows) if format_ == "json_lines" else json.dumps(rows)

    assert len(api.post("/rows/parse", {"text": text(10_000)})["rows"]) == 10_000
    refused = api.post("/rows/parse", {"text": text(10_001)}, 422)
    assert "more than 10,000 rows" in refused["detail"]


def test_text_has_a_limit(api: Any) -> None:
    most = 5 * 1024**2
    begun = time.monotonic()
    assert len(api.post("/rows/parse", {"text": "a\n" + "ü" * (most // 2 - 1)})["rows"]) == 1
    refused = api.post("/rows/parse", {"text": "ü" * (most // 2) + "x"}, 413)
    assert "larger than 5 MB" in refused["detail"]
    # Half of it are escapes.
    assert api.post("/rows/parse", {"text": '"",' * (most // 3)})["rows"] == []
    wide = api.post("/rows/parse", {"text": ",".join(map(str, range(600_000))) + "\n"})
    assert wide["rows"] == []
    assert time.monotonic() - begun < 20


def test_who_asks_must_have_said_who_they_are(as_user: Any, viewer: Any) -> None:
    as_user(None).post("/rows/parse", {"text": "a"}, 401)
    as_user(viewer).post("/rows/parse", {"text": "a"})
    as_user(viewer).post("/rows/parse", {"text": "a", "format": "xml"}, 422)
