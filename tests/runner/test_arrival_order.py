"""Results that depend on the order in which rows came, of a batch that brings them in no order."""

from datetime import datetime

import pytest
from pyspark.sql import functions as F

from runner.rows import ARRIVED, Column, Rows
from runner.steps import python_processor
from runner.steps.aggregate import Aggregation

SOURCE = ("_topic", "_partition", "_offset")
ROWS = Rows(
    "stream",
    tuple(Column(name) for name in ("said", ARRIVED, *SOURCE)),
    lane=SOURCE[:2],
    version=SOURCE[2],
)
# What was said; the second at which its record claims to have come; its partition and offset.
KEYED = [("b", 7, 0, 1), ("c", 3, 0, 2), (None, 8, 0, 3), ("a", 5, 0, 0)]
SPREAD = [("d", 9, 0, 1), ("c", 8, 1, 6), ("a", 1, 1, 5), (None, 3, 0, 0)]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param(KEYED, ("a", None, ["a", "b", "c"]), id="by offset within a partition"),
        pytest.param(SPREAD, ("a", "d", ["a", "c", "d"]), id="by time over several"),
        pytest.param([*KEYED[2:], *KEYED[:2]], ("a", None, ["a", "b", "c"]), id="shuffled"),
    ],
)
def test_rows_count_in_the_order_in_which_they_came(spark, rows, expected):
    came = [(said, datetime(2026, 1, 1, 10, 0, at), "says", p, o) for said, at, p, o in rows]
    frame = spark.createDataFrame(
        came, f"said string, {ARRIVED} timestamp, _topic string, _partition int, _offset bigint"
    )
    asked = [
        Aggregation(name=name, function=name, expression="said")
        for name in ("first", "last", "collect_list")
    ]
    (found,) = frame.agg(*(eval(one.emit(ROWS), {"F": F}) for one in asked)).collect()
    assert tuple(found) == expected


@pytest.mark.parametrize(
    ("rows", "known", "expected"),
    [
        pytest.param(KEYED, ROWS, ["a", "b", "c", None], id="by offset within a partition"),
        pytest.param(SPREAD, ROWS, ["a", None, "c", "d"], id="by time over several"),
        pytest.param(KEYED, Rows("stream", ROWS.columns), ["c", "a", "b", None], id="by time"),
        pytest.param(KEYED, Rows("stream", ()), ["b", "c", None, "a"], id="where nothing is known"),
    ],
)
def test_a_python_processor_sees_rows_as_they_came(rows, known, expected):
    names = ("said", ARRIVED, *SOURCE)
    given = [dict(zip(names, (s, at, "says", p, o), strict=True)) for s, at, p, o in rows]
    prelude = {"StatefulProcessor": object}
    exec(python_processor.PRELUDE, prelude)
    found = prelude["as_they_came"](given, **known.arrival)
    assert [row["said"] for row in found] == expected
