"""Expected rows against found rows: which are the same, missing, unexpected, changed."""

import time

import pytest

from runner.row_diff import PAIRED, TOLD, as_text, is_same, row_diff


def told(expected, found):
    """What is said about the rows, in short."""
    return [
        (row.op, row.expected, row.found, *row.columns) if row.columns else (row.op,)
        for row in row_diff(expected, found)
    ]


A, B = {"word": "a", "count": 1}, {"word": "b", "count": 2}
STRUCT = {"id": 1, "place": {"city": "Ulm", "at": [1, 2]}, "tags": [{"n": 1}, {"n": 2}]}

SAME = {
    "nothing": ([], []),
    "in order": ([A, B], [A, B]),
    "in another order": ([A, B], [B, A]),
    "twice": ([A, A], [A, A]),
    "columns in another order": ([A], [{"count": 1, "word": "a"}]),
    "numbers by value": ([{"n": 1, "x": 2.0}], [{"n": 1.0, "x": 2}]),
    "zero": ([{"n": 0}], [{"n": -0.0}]),
    "as a browser rounds it": ([{"n": [-7444071767201028000]}], [{"n": [-7444071767201028348]}]),
    "one rounded, one not": (
        [{"a": 2**53, "b": 2**53 + 1}],
        [{"a": 2**53 + 1, "b": 2**53 + 1}],
    ),
    "large": ([{"n": 2**53}], [{"n": float(2**53)}]),
    "nested numbers": ([STRUCT], [{**STRUCT, "place": {"at": [1.0, 2], "city": "Ulm"}}]),
    "hidden columns nobody names": ([A], [{**A, "_batch": 3, "_key": "a", "_topic": "t"}]),
    "hidden columns that are named": ([{**A, "_key": "a"}], [{**A, "_key": "a", "_batch": 1}]),
    "a deletion": (
        [{"word": "a", "_deleted": True}],
        [{"word": "a", "_key": "a", "_deleted": True, "_batch": 0}],
    ),
    "no deletion": ([{**A, "_deleted": False}], [A]),
    "null": ([{"word": None}], [{"word": None}]),
    "a time, to the letter": ([{"at": "2026-01-01T00:00:00Z"}], [{"at": "2026-01-01T00:00:00Z"}]),
    "the row that names more chooses first": (
        [A, {**A, "_key": "k"}],
        [{**A, "_key": "k"}, {**A, "_key": "l"}],
    ),
    "no columns": ([{}], [{"_batch": 0}]),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same(name):
    expected, found = SAME[name]
    compared = row_diff(expected, found)
    assert is_same(compared)
    assert [row.expected for row in compared] == expected
    assert all(row.found in found for row in compared)


ANOTHER = {
    "a word": ({"word": "a"}, {"word": "b"}),
    "a number as text": ({"n": 1}, {"n": "1"}),
    "true is no number": ({"n": 1}, {"n": True}),
    "false is not nothing": ({"n": False}, {"n": None}),
    "nothing is not zero": ({"n": None}, {"n": 0}),
    "numbers that only look alike": ({"n": 2**53 + 1}, {"n": float(2**53)}),
    "large neighbours": ({"n": 2**62 + 1}, {"n": 2**62 + 2}),
    "a fraction": ({"n": 1}, {"n": 1.5}),
    "a column too few": ({"n": 1}, {}),
    "a column too many": ({}, {"n": None}),
    "a list in another order": ({"n": [1, 2]}, {"n": [2, 1]}),
    "a list that is longer": ({"n": [1]}, {"n": [1, 1]}),
    "a nested null": ({"n": {"a": 1}}, {"n": {"a": 1, "b": None}}),
    "the same time in other words": (
        {"at": "2026-01-01T00:00:00Z"},
        {"at": "2026-01-01T00:00:00.000Z"},
    ),
    "capitals": ({"word": "a"}, {"word": "A"}),
    "a hidden column that is named": ({"_key": "a"}, {"_key": "b"}),
    "a hidden column that is not there": ({"_key": "a"}, {"_batch": 0}),
}


@pytest.mark.parametrize("name", ANOTHER)
def test_another(name):
    expected, found = ANOTHER[name]
    assert told([expected], [found]) == [("missing",), ("unexpected",)]
    wide = {"id": 1, "of": "x"}
    (row,) = row_diff([{**wide, **expected}], [{**found, **wide}])
    assert row.op == "changed"
    assert set(row.columns) == {n for n in expected.keys() | found.keys() if n != "_batch"}


def test_each_found_row_is_used_once():
    assert told([A, A], [A]) == [("same",), ("missing",)]
    assert told([A], [A, A]) == [("same",), ("unexpected",)]


def test_a_deletion_is_another_thing_than_a_row():
    gone = {"word": "a", "_deleted": True}
    assert told([{"word": "a"}], [gone]) == [("changed", {"word": "a"}, gone, "_deleted")]
    assert told([gone], [{"word": "a"}]) == [("changed", gone, {"word": "a"}, "_deleted")]
    assert told([gone], [A]) == [("missing",), ("unexpected",)]


def test_rows_that_differ_in_few_columns_are_one_changed_row():
    wide = {"id": 1, "user": "u", "n": 1, "at": "x"}
    half = {**wide, "n": 2, "at": "y"}
    most = {**half, "user": "v"}
    assert told([wide], [half]) == [("changed", wide, half, "n", "at")]
    assert told([wide], [most]) == [("missing",), ("unexpected",)]
    assert told([{"word": "a"}], [{"word": "b"}]) == [("missing",), ("unexpected",)]


def test_a_changed_row_is_paired_with_the_one_most_like_it():
    far = {"id": 9, "user": "u", "n": 1, "at": "y"}
    near = {"id": 1, "user": "u", "n": 1, "at": "z"}
    wanted = {"id": 1, "user": "u", "n": 1, "at": "x"}
    assert told([wanted], [far, near]) == [("changed", wanted, near, "at"), ("unexpected",)]


def test_rows_of_the_same_first_columns_belong_together():
    expected = [{"word": "a", "count": 1}, {"word": "b", "count": 2}]
    found = [{"word": "b", "count": 1}, {"word": "a", "count": 2}]
    assert told(expected, found) == [
        ("changed", expected[0], found[1], "count"),
        ("changed", expected[1], found[0], "count"),
    ]


def test_hidden_columns_that_are_named_can_differ():
    expected, found = {**A, "_key": "a"}, {**A, "_key": "b", "_batch": 0}
    assert told([expected], [found]) == [("changed", expected, found, "_key")]


def test_what_is_said_as_json():
    rows = [row.as_json() for row in row_diff([A, B], [{**A, "count": 3}, A, {"x": 1}])]
    assert rows == [
        {"op": "same", "expected": A, "found": A, "columns": []},
        {"op": "missing", "expected": B, "found": None, "columns": []},
        {"op": "unexpected", "expected": None, "found": {**A, "count": 3}, "columns": []},
        {"op": "unexpected", "expected": None, "found": {"x": 1}, "columns": []},
    ]


def test_what_is_said_as_text():
    found = [{**A, "_batch": 0}, {**B, "count": 3, "_batch": 1}, {"x": "ü", "_batch": 1}]
    assert as_text(row_diff([A, B, {"gone": True}], found)).splitlines() == [
        "1 changed, 1 missing, 1 unexpected, 1 as expected",
        "changed (count):",
        '  - {"word": "b", "count": 2}',
        '  + {"word": "b", "count": 3}',
        "missing:",
        '  - {"gone": true}',
        "unexpected:",
        '  + {"x": "ü"}',
    ]
    assert as_text(row_diff([A], [A])) == "1 as expected"
    many = as_text(row_diff([{"n": n} for n in range(TOLD + 5)], []))
    assert many.splitlines()[-1] == "… and 5 more differences"
    assert many.count("missing:") == TOLD


def test_a_thousand_rows_are_compared_in_no_time():
    expected = [{"id": n, "a": n, "b": n, "tags": [n] * 9} for n in range(1000)]
    found = [{"id": n, "a": n, "b": n + 1, "tags": [n] * 9} for n in range(1000)]
    begun = time.monotonic()
    ops = [row.op for row in row_diff(expected, found)]
    assert time.monotonic() - begun < 2
    assert ops.count("changed") == PAIRED
    assert ops.count("missing") == ops.count("unexpected") == 1000 - PAIRED
