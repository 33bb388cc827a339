"""Windows that depend on the rows, and reduce: by example, against Spark's own aggregation, and
against what Python makes of the same rows, whatever their order."""

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from runner.compile import CONF
from runner.jars import spark_jars
from tests.runner import scenario
from tests.runner.drawn import WITH_SCENARIOS
from tests.runner.scenario import wait_until
from tests.runner.test_operators import Trial, operate

Row = dict[str, Any]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FOREVER = 10**9


def at(ms: float) -> str:
    """A time of event as Spark writes it."""
    return (EPOCH + timedelta(milliseconds=ms)).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def ms(text: str) -> int:
    return round((datetime.fromisoformat(text) - EPOCH) / timedelta(milliseconds=1))


MakeTrial = Callable[..., Trial]


@pytest.fixture
def make_trial(spark: SparkSession, tmp_path: Path) -> Iterator[MakeTrial]:
    made: list[Trial] = []

    def make(operator: str, options: dict[str, Any], columns: str) -> Trial:
        made.append(Trial(spark, tmp_path / str(len(made)), operator, options, (columns,)))
        return made[-1].start()

    yield make
    for trial in made:
        trial.stop()


def windows(**more: Any) -> dict[str, Any]:
    return {
        "group_by": ["k"],
        "time": "t",
        "grace": 0,
        "results": [["n", "count(*)"], ["total", "sum(x)"]],
        "emit": "updates",
        **more,
    }


def brief(row: Row) -> tuple[Any, ...]:
    """A change: group, start, end, rows, sum, version, and whether it deletes."""
    window = row["window"]
    gone = ("gone",) if row["_deleted"] else ()
    found = (row.get("k"), ms(window["start"]), ms(window["end"]), row["n"], row.get("total"))
    return (*found, row["_version"], *gone)


def given(*rows: tuple[str | None, float | None, int | None]) -> list[Row]:
    return [{"k": k, "t": None if t is None else at(t), "x": x} for k, t, x in rows]


COLUMNS = "k string, t timestamp, x bigint"


@dataclass(frozen=True)
class Case:
    name: str
    operator: str
    options: dict[str, Any]
    # What goes in, and what must come out because of it, in this order within a group.
    batches: list[tuple[list[Row], list[tuple[Any, ...]]]]
    columns: str = COLUMNS
    show: Callable[[Row], Any] = field(default=brief)


SESSIONS = {"gap": 10, "grace": 100}
SLIDING = {"size": 10, "grace": 100}
HOPPING = {"size": 10, "advance": 4, "grace": 100}
REDUCE = {"group_by": ["k"], "version": ["o"]}

CASES = [
    Case(
        "a session grows, and is deleted under its old window",
        "SessionWindows",
        windows(**SESSIONS),
        [
            (given(("a", 100, 1)), [("a", 100, 110, 1, 1, 1)]),
            (
                given(("a", 105, 2)),
                [("a", 100, 110, 1, 1, 2, "gone"), ("a", 100, 115, 2, 3, 2)],
            ),
            (given(("a", 102, 4)), [("a", 100, 115, 3, 7, 3)]),
            (
                given(("a", 95, 8)),
                [("a", 100, 115, 3, 7, 4, "gone"), ("a", 95, 115, 4, 15, 4)],
            ),
        ],
    ),
    Case(
        "a row exactly a gap away joins, one further does not",
        "SessionWindows",
        windows(**SESSIONS),
        [
            (
                given(("a", 100, 1), ("a", 110, 1)),
                [("a", 100, 110, 1, 1, 2, "gone"), ("a", 100, 120, 2, 2, 2)],
            ),
            (given(("a", 121, 1)), [("a", 121, 131, 1, 1, 1)]),
            (given(("a", 89, 1)), [("a", 89, 99, 1, 1, 1)]),
        ],
    ),
    Case(
        "a row between two sessions merges them",
        "SessionWindows",
        windows(**SESSIONS),
        [
            (
                given(("a", 120, 2), ("a", 100, 1), ("b", 110, 8)),
                [("a", 100, 110, 1, 1, 1), ("a", 120, 130, 1, 2, 1), ("b", 110, 120, 1, 8, 1)],
            ),
            (
                given(("a", 110, 4)),
                [
                    ("a", 100, 110, 1, 1, 2, "gone"),
                    ("a", 120, 130, 1, 2, 2, "gone"),
                    ("a", 100, 130, 3, 7, 3),
                ],
            ),
        ],
    ),
    Case(
        "a session of one batch that is merged in it is deleted all the same",
        "SessionWindows",
        windows(**SESSIONS, version=["x"]),
        [
            (given(("a", 100, 1)), [("a", 100, 110, 1, 1, 1)]),
            (
                given(("a", 110, 3), ("a", 130, 1), ("a", 120, 2)),
                [
                    ("a", 130, 140, 1, 1, 2, "gone"),
                    ("a", 100, 110, 1, 1, 2, "gone"),
                    ("a", 120, 140, 2, 3, 3, "gone"),
                    ("a", 100, 140, 4, 7, 4),
                ],
            ),
        ],
    ),
    Case(
        "rows without a time are dropped; a group may be null, a value too",
        "SessionWindows",
        windows(**SESSIONS),
        [(given((None, 100, None), ("a", None, 1)), [(None, 100, 110, 1, None, 1)])],
    ),
    Case(
        "sessions of all rows",
        "SessionWindows",
        windows(**SESSIONS, group_by=[]),
        [
            (given(("a", 100, 1)), [(None, 100, 110, 1, 1, 1)]),
            (
                given(("b", 105, 2)),
                [(None, 100, 110, 1, 1, 2, "gone"), (None, 100, 115, 2, 3, 2)],
            ),
        ],
    ),
    Case(
        "a late row counts as long as its own session would be open",
        "SessionWindows",
        windows(gap=10, grace=5),
        [
            # The watermark comes to 1000 - 15.
            (given(("a", 1000, 1)), [("a", 1000, 1010, 1, 1, 1)]),
            (
                given(("a", 985, 1), ("a", 986, 2), ("b", 986, 4)),
                [("a", 986, 996, 1, 2, 1), ("b", 986, 996, 1, 4, 1)],
            ),
        ],
    ),
    Case(
        "a session is final once the watermark is at its end",
        "SessionWindows",
        windows(gap=10, grace=5, emit="final"),
        [
            (given(("a", 100, 1), ("a", 108, 2), ("b", 90, 4)), []),
            # 131 - 15: the end of b's, not of a's.
            (given(("c", 131, 1)), [("b", 90, 100, 1, 4, 1)]),
            (given(("c", 132, 1)), []),
            (given(("c", 133, 1)), [("a", 100, 118, 2, 3, 2)]),
            (given(("a", 119, 5)), []),
            (
                given(("c", 1000, 1)),
                [("a", 119, 129, 1, 5, 1), ("c", 131, 143, 3, 3, 3)],
            ),
        ],
    ),
    Case(
        "a prolonged session is final at its new end",
        "SessionWindows",
        windows(gap=10, grace=0, emit="final"),
        [
            (given(("a", 100, 1)), []),
            (given(("a", 109, 1)), []),
            (given(("a", 118, 1)), []),
            (given(("b", 124, 1)), []),
            (given(("b", 138, 1)), [("a", 100, 128, 3, 3, 3)]),
        ],
    ),
    Case(
        "a window for every difference",
        "SlidingWindows",
        windows(**SLIDING),
        [
            (given(("a", 100, 1)), [("a", 90, 100, 1, 1, 1)]),
            (
                given(("a", 105, 2)),
                [("a", 95, 105, 2, 3, 2), ("a", 101, 111, 1, 2, 1)],
            ),
            (
                given(("a", 110, 4)),
                [
                    ("a", 100, 110, 3, 7, 3),
                    ("a", 101, 111, 2, 6, 2),
                    ("a", 106, 116, 1, 4, 1),
                ],
            ),
        ],
    ),
    Case(
        "an earlier row changes the windows that hold it and makes its own",
        "SlidingWindows",
        windows(**SLIDING),
        [
            (given(("a", 110, 1)), [("a", 100, 110, 1, 1, 1)]),
            (
                given(("a", 102, 2)),
                [
                    ("a", 92, 102, 1, 2, 1),
                    ("a", 100, 110, 2, 3, 2),
                    ("a", 103, 113, 1, 1, 1),
                ],
            ),
            (given(("a", 102, 4)), [("a", 92, 102, 2, 6, 2), ("a", 100, 110, 3, 7, 3)]),
            # Too far from any other, above and below.
            (given(("a", 121, 8)), [("a", 111, 121, 1, 8, 1)]),
        ],
    ),
    Case(
        "the windows of the first rows of time begin there",
        "SlidingWindows",
        windows(**SLIDING),
        [
            (given(("a", 3, 1)), [("a", 0, 10, 1, 1, 1)]),
            (given(("a", 7, 2)), [("a", 0, 10, 2, 3, 2), ("a", 4, 14, 1, 2, 1)]),
        ],
    ),
    Case(
        "sliding windows count in whole milliseconds",
        "SlidingWindows",
        windows(**SLIDING),
        [
            (
                [
                    {"k": "a", "t": "1970-01-01T00:00:00.100900Z", "x": 1},
                    {"k": "a", "t": "1970-01-01T00:00:00.100100Z", "x": 2},
                ],
                [("a", 90, 100, 2, 3, 2)],
            )
        ],
    ),
    Case(
        "a late row changes only windows that are not closed",
        "SlidingWindows",
        windows(size=10, grace=5),
        [
            (given(("a", 100, 1), ("a", 92, 2)), None),
            # 108 - 15: the windows up to 93 are closed.
            (given(("b", 108, 1)), None),
            (
                given(("a", 98, 4), ("a", 93, 8)),
                [("a", 99, 109, 1, 1, 1)],
            ),
            (given(("a", 95, 16)), [("a", 96, 106, 2, 5, 2)]),
        ],
    ),
    Case(
        "a sliding window is final when grace is over",
        "SlidingWindows",
        windows(size=10, grace=5, emit="final"),
        [
            (given(("a", 100, 1), ("a", 105, 2)), [("a", 90, 100, 1, 1, 1)]),
            (given(("b", 110, 1)), [("a", 95, 105, 2, 3, 2)]),
            (given(("b", 115, 1)), [("b", 100, 110, 1, 1, 1)]),
            (
                given(("b", 1000, 1)),
                [("a", 101, 111, 1, 2, 1), ("b", 105, 115, 2, 2, 2), ("b", 111, 121, 1, 1, 1)],
            ),
        ],
    ),
    Case(
        "a row is in each hopping window that has begun and not ended",
        "HoppingWindows",
        windows(**HOPPING),
        [
            (given(("a", 103, 1)), [("a", 96, 106, 1, 1, 1), ("a", 100, 110, 1, 1, 1)]),
            (
                given(("a", 106, 2), ("b", 107, 4)),
                [
                    ("a", 100, 110, 2, 3, 2),
                    ("a", 104, 114, 1, 2, 1),
                    ("b", 100, 110, 1, 4, 1),
                    ("b", 104, 114, 1, 4, 1),
                ],
            ),
            (
                given(("a", 105, 8)),
                [
                    ("a", 96, 106, 2, 9, 2),
                    ("a", 100, 110, 3, 11, 3),
                    ("a", 104, 114, 2, 10, 2),
                ],
            ),
        ],
    ),
    Case(
        "hopping windows may begin before 1970",
        "HoppingWindows",
        windows(**HOPPING),
        [
            (
                given(("a", 0, 1)),
                [("a", -8, 2, 1, 1, 1), ("a", -4, 6, 1, 1, 1), ("a", 0, 10, 1, 1, 1)],
            )
        ],
    ),
    Case(
        "a late row counts in the hopping windows that grace keeps open",
        "HoppingWindows",
        windows(size=10, advance=4, grace=5),
        [
            (given(("a", 103, 1)), [("a", 96, 106, 1, 1, 1), ("a", 100, 110, 1, 1, 1)]),
            # 115 - 5: the windows up to the end of 110 are closed.
            (given(("b", 115, 1)), [("b", 108, 118, 1, 1, 1), ("b", 112, 122, 1, 1, 1)]),
            (given(("a", 105, 2), ("a", 103, 4)), [("a", 104, 114, 1, 2, 1)]),
        ],
    ),
    Case(
        "a sum in the order of a column",
        "Reduce",
        {**REDUCE, "initial": "''", "expression": "concat(acc, s)"},
        [
            (
                [{"k": "a", "o": 2, "s": "y"}, {"k": "a", "o": 1, "s": "x"}, {"k": "b", "s": "z"}],
                [("a", "xy", 2), ("b", "z", 1)],
            ),
            ([{"k": "a", "o": 0, "s": "w"}], [("a", "xyw", 3)]),
        ],
        "k string, o int, s string",
        lambda row: (row.get("k"), row.get("acc"), row["_version"]),
    ),
    Case(
        "rows of a lane by their version, lanes beside each other by when their rows arrived",
        "Reduce",
        {
            "group_by": [],
            "arrived": "at",
            "lane": ["p"],
            "version": ["o"],
            "initial": "''",
            "expression": "concat(acc, s)",
        },
        [
            (
                [
                    {"at": at(9), "p": 0, "o": 1, "s": "b"},
                    {"at": at(6), "p": 1, "o": 1, "s": "y"},
                    {"at": at(7), "p": 1, "o": 0, "s": "x"},
                    {"at": at(5), "p": 0, "o": 0, "s": "a"},
                ],
                [("axyb", 4)],
            ),
        ],
        "at timestamp, p int, o int, s string",
        lambda row: (row["acc"], row["_version"]),
    ),
    Case(
        "a number that grows out of its type, over all rows, with a null",
        "Reduce",
        {"group_by": [], "version": ["o"], "initial": "0", "expression": "acc + coalesce(x, 0)"},
        [
            ([{"k": "a", "o": 1, "x": 2**40}, {"k": "b", "o": 2}], [(2**40, 2)]),
            ([{"k": "b", "o": 3, "x": -1}], [(2**40 - 1, 3)]),
        ],
        "k string, o int, x bigint",
        lambda row: (row["acc"], row["_version"]),
    ),
    Case(
        "decimals, which stay exact",
        "Reduce",
        {**REDUCE, "initial": "cast(0 as decimal(4,2))", "expression": "acc + d"},
        [
            ([{"k": "a", "o": n, "d": 99.99} for n in range(3)], [299.97]),
            ([{"k": "a", "o": 1, "d": 0.01}], [299.98]),
        ],
        "k string, o int, d decimal(4,2)",
        lambda row: row["acc"],
    ),
    Case(
        "a struct, whose fields are widened, and an array",
        "Reduce",
        {
            **REDUCE,
            "initial": "named_struct('n', 0, 'seen', array())",
            "expression": "named_struct('n', acc.n + x, 'seen', array_append(acc.seen, s))",
        },
        [
            ([{"k": "a", "o": 1, "s": "p", "x": 1}], [{"n": 1, "seen": ["p"]}]),
            ([{"k": "a", "o": 1, "s": "q", "x": 2}], [{"n": 3, "seen": ["p", "q"]}]),
        ],
        "k string, o int, s string, x bigint",
        lambda row: row["acc"],
    ),
    Case(
        "a null to begin with, an expression that names a part twice, and a column called acc",
        "Reduce",
        {**REDUCE, "initial": "null", "expression": "nullif(greatest(acc, x + 1), 3)"},
        [
            ([{"k": "a", "o": 1, "x": 2, "acc": "no"}], [None]),
            ([{"k": "a", "o": 1, "x": 6, "acc": "no"}], [7]),
            ([{"k": "a", "o": 1, "x": 1, "acc": "no"}], [7]),
        ],
        "k string, o int, x bigint, acc string",
        lambda row: row.get("acc"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_in_micro_batches(case: Case, make_trial: MakeTrial) -> None:
    trial = make_trial(case.operator, case.options, case.columns)
    for rows, expected in case.batches:
        out = [case.show(row) for row in trial.give(rows)]
        if expected is not None:
            assert sorted(out, key=_by_group) == sorted(expected, key=_by_group)


def _by_group(change: Any) -> str:
    """Sorts by group only, so that the order within a group is compared."""
    return str(change[0]) if isinstance(change, tuple) else ""


AGGREGATES = [
    "count(*)",
    "count(x)",
    "sum(x)",
    "sum(i)",
    "sum(d)",
    "avg(d)",
    "sum(cast(d as decimal(30,4)))",
    "avg(x)",
    "avg(f)",
    "min(s)",
    "max(f)",
    "max(t)",
    "stddev(f)",
    "variance(x)",
    "first(s)",
    "last(s)",
    "first(x, true)",
    "collect_list(s)",
    "sort_array(collect_set(s))",
    "approx_count_distinct(s)",
    "percentile(f, 0.5)",
    "percentile(x, array(0.25, 0.75))",
    "percentile_approx(i, 0.5)",
    "median(i)",
    "max_by(s, f)",
    "min_by(struct(s, x), f)",
    "count_if(x > 5)",
    "bool_or(x > 15)",
    "every(x > 0)",
    "corr(f, i)",
    "skewness(f)",
    "sum(x) filter (where s = 's1')",
    "count(*) filter (where x / nullif(i, 0) > 1)",
    "sum(nullif(i, 3)) / nullif(count(*), 0) + 1",
    "round(avg(f * 2 + x), 3)",
    "max(struct(x, s))",
    "array_agg(upper(s))",
    "listagg(s, ',')",
    "bit_xor(x)",
    "mode(i)",
    "any_value(k)",
    "histogram_numeric(f, 3)",
]


def test_every_aggregate_is_what_spark_makes_of_the_same_rows(
    spark: SparkSession, make_trial: MakeTrial
) -> None:
    chance = random.Random(7)
    rows = [
        {
            "k": chance.choice(["a", "b", None]),
            "t": at(10**6 + n),
            "x": chance.choice([None, chance.randrange(20)]),
            "i": chance.randrange(8),
            "d": chance.randrange(10**6) / 100,
            "f": chance.uniform(-5, 5),
            "s": chance.choice([None, f"s{chance.randrange(6)}"]),
        }
        for n in range(120)
    ]
    columns = f"{COLUMNS}, i int, d decimal(8,2), f double, s string"
    results = [[f"r{n}", text] for n, text in enumerate(AGGREGATES)]
    options = windows(gap=10**6, grace=10**6, results=results)
    trial = make_trial("SessionWindows", options, columns)
    newest: dict[Any, Row] = {}
    for batch in (rows[:1], rows[1:50], rows[50:53], rows[53:]):
        for row in trial.give(batch):
            if not row["_deleted"]:
                newest[row.get("k")] = row
    lines = spark.createDataFrame([(json.dumps(row),) for row in rows], "value string")
    own = (
        lines.coalesce(1)
        .select(F.from_json("value", columns).alias("it"))
        .select("it.*")
        .groupBy("k")
        .agg(*(F.expr(text).alias(name) for name, text in results))
    )
    ours = trial.rows().schema
    for name, text in results:
        assert ours[name].dataType == own.schema[name].dataType, text
    for line in own.select(F.to_json(F.struct("*")).alias("it")).collect():
        expected = json.loads(line.it)
        found = newest[expected.get("k")]
        for name, text in results:
            assert _close(found.get(name)) == _close(expected.get(name)), text


def _close(value: Any) -> Any:
    """Floating point depends on the order of adding, in Spark too."""
    if isinstance(value, float):
        return pytest.approx(value)
    if isinstance(value, list):
        return [_close(v) for v in value]
    return {k: _close(v) for k, v in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ("count(distinct x)", "DISTINCT can't be kept up to date"),
        ("x", "MISSING_GROUP_BY"),
        ("sum(s)", "s"),
        ("sum(nothing)", "nothing"),
        ("sum(x) over (partition by k)", "MISSING_GROUP_BY|aggregate"),
    ],
)
def test_what_is_no_aggregate_is_refused(spark: SparkSession, result: str, says: str) -> None:
    rows = spark.createDataFrame([], COLUMNS + ", s array<int>")
    options = windows(**SESSIONS, results=[["r", result]])
    with pytest.raises(AnalysisException, match=says):
        operate(spark, "SessionWindows", [rows], options)


def test_an_error_in_a_row_is_sparks(make_trial: MakeTrial) -> None:
    trial = make_trial(
        "SessionWindows", windows(**SESSIONS, results=[["r", "sum(1 / x)"]]), COLUMNS
    )
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        trial.give(given(("a", 100, 0)))


def test_names_and_groups_of_any_kind(make_trial: MakeTrial) -> None:
    columns = (
        "`a b` string, `when.ever` timestamp, `x``y` bigint, "
        "s struct<`c d`: int>, b binary, acc int"
    )
    row = {"a b": "k", "when.ever": at(100), "x`y": 3, "s": {"c d": 1}, "b": "aGk="}
    groups = ["a b", "s", "b"]
    options = windows(
        **SESSIONS,
        group_by=groups,
        time="when.ever",
        results=[["n", "count(*)"], ["so `so`", "sum(`x``y`)"], ["when", "max(`when.ever`)"]],
    )
    trial = make_trial("SessionWindows", options, columns)
    for rows in ([row, row], [row]):
        out = trial.give(rows)
        assert [row[name] for name in groups] == [out[0][name] for name in groups]
    assert (out[0]["so `so`"], out[0]["when"]) == (9, at(100))
    expression = "acc + `x``y` + s.`c d`"
    options = {"group_by": groups, "initial": "1", "expression": expression}
    options |= {"arrived": "when.ever", "lane": groups}
    trial = make_trial("Reduce", options, columns)
    for rows in ([row, row], [row]):
        out = trial.give(rows)
    assert out == [{**{name: row[name] for name in groups}, "acc": 13, "_version": 3}]


@pytest.mark.parametrize(
    ("initial", "expression", "says"),
    [
        ("0", "concat(acc, 'x')", "INT, but the expression gives STRING"),
        ("date '2020-01-01'", "1", "DATE, but the expression gives INT"),
        ("named_struct('a', 1)", "named_struct('b', 1)", "Cast one to the type of the other"),
        ("0", "sum(x)", "no aggregate"),
        ("x", "acc", "x"),
    ],
)
def test_what_can_not_be_reduced_is_refused(
    spark: SparkSession, initial: str, expression: str, says: str
) -> None:
    rows = spark.createDataFrame([], COLUMNS)
    options = {"group_by": ["k"], "initial": initial, "expression": expression}
    with pytest.raises(AnalysisException, match=says):
        operate(spark, "Reduce", [rows], options)


@pytest.mark.parametrize(
    ("initial", "expression", "type_"),
    [
        ("0", "acc + 1", "int"),
        ("0", "acc + x", "bigint"),
        ("0", "acc + 1.5D", "double"),
        ("1L", "1", "bigint"),
        ("0", "acc + cast(1 as decimal(10,2))", "decimal(38,2)"),
        ("null", "coalesce(acc, k)", "string"),
        ("array()", "array_append(acc, x)", "array<bigint>"),
        ("map()", "map_concat(acc, map(k, x))", "map<string,bigint>"),
    ],
)
def test_the_type_holds_what_the_expression_gives(
    spark: SparkSession, initial: str, expression: str, type_: str
) -> None:
    rows = spark.createDataFrame([], COLUMNS)
    options = {"group_by": ["k"], "initial": initial, "expression": expression}
    gives = operate(spark, "Reduce", [rows], options)
    assert gives.schema["acc"].dataType.simpleString() == type_
    assert gives.columns == ["k", "acc", "_version"]


Event = tuple[str, int, int]


def batches_of(chance: random.Random, spread: int) -> list[list[Event]]:
    """Rows of two groups in some batches, none in order, some of the same moment."""
    batches, now = [], 100_000
    for _ in range(chance.randrange(3, 6)):
        now += chance.randrange(spread * 2)
        batches.append(
            [
                (chance.choice("ab"), now + chance.randrange(-spread, spread), chance.randrange(9))
                for _ in range(chance.randrange(1, 14))
            ]
        )
    return batches


def run(trial: Trial, batches: list[list[Event]]) -> Iterator[list[Row]]:
    for batch in batches:
        yield trial.give(given(*batch))


def replay(table: dict[Any, Row], changes: list[Row]) -> None:
    """Bring a table up to date, and see that each change follows from those before.

    What came and went within a batch is deleted without having been seen.
    """
    for row in changes:
        key = (row["k"], row["window"]["start"], row["window"]["end"])
        old = table.pop(key, None)
        if row["_deleted"]:
            assert old is None or row["_version"] > old["_version"]
        else:
            assert old is None or row["_version"] >= old["_version"]
            table[key] = row


def as_windows(rows: list[Row]) -> list[tuple[Any, ...]]:
    return sorted(brief(row) for row in rows)


def summary(k: str, start: int, end: int, rows: list[Event]) -> tuple[Any, ...]:
    return (k, start, end, len(rows), sum(x for _, _, x in rows), len(rows))


def sessions_of(rows: list[Event], gap: int) -> list[tuple[Any, ...]]:
    found = []
    for k in "ab":
        session: list[Event] = []
        for row in [*sorted(r for r in rows if r[0] == k), (k, FOREVER, 0)]:
            if session and row[1] > session[-1][1] + gap:
                found.append(summary(k, session[0][1], session[-1][1] + gap, session))
                session = []
            session.append(row)
    return sorted(found)


@pytest.mark.parametrize("seed", range(4))
def test_sessions_are_the_same_whatever_the_order(seed: int, make_trial: MakeTrial) -> None:
    chance = random.Random(seed)
    gap, grace = 10, chance.choice([0, 15, FOREVER])
    batches = batches_of(chance, 40)
    trial = make_trial("SessionWindows", windows(gap=gap, grace=grace), COLUMNS)
    table: dict[Any, Row] = {}
    counted: list[Event] = []
    watermark = 0
    for batch, changes in zip(batches, run(trial, batches), strict=True):
        counted += [row for row in batch if row[1] > watermark]
        watermark = max(watermark, *(t - gap - grace for _, t, _ in batch))
        replay(table, changes)
        assert as_windows(list(table.values())) == sessions_of(counted, gap)


@pytest.mark.parametrize("seed", range(4))
def test_each_session_is_final_once(seed: int, make_trial: MakeTrial) -> None:
    chance = random.Random(seed)
    gap, grace = 10, chance.choice([0, 15])
    batches = [*batches_of(chance, 40), [("a", 10**6, 0)]]
    trial = make_trial("SessionWindows", windows(gap=gap, grace=grace, emit="final"), COLUMNS)
    counted: list[Event] = []
    final: list[Row] = []
    watermark = 0
    for batch, changes in zip(batches, run(trial, batches), strict=True):
        counted += [row for row in batch if row[1] > watermark]
        watermark = max(watermark, *(t - gap - grace for _, t, _ in batch))
        final += changes
        closed = [s for s in sessions_of(counted, gap) if s[2] <= watermark]
        assert as_windows(final) == closed


Counted = tuple[Event, int]


def sliding_of(rows: list[Counted], size: int) -> list[tuple[Any, ...]]:
    """The windows of rows, each of which counts where a window starts after its watermark."""
    found = []
    for k in "ab":
        mine = [row for row in rows if row[0][0] == k]
        starts = {max(0, t - size) for (_, t, _), mark in mine if t - size > mark}
        starts |= {t + 1 for (_, t, _), _ in mine}
        for start in starts:
            inside = [r for r, mark in mine if mark < start <= r[1] <= start + size]
            if inside:
                found.append(summary(k, start, start + size, inside))
    return sorted(found)


@pytest.mark.parametrize("seed", range(6))
def test_sliding_windows_are_the_same_whatever_the_order(seed: int, make_trial: MakeTrial) -> None:
    chance = random.Random(seed)
    size, grace = chance.choice([1, 10, 30]), chance.choice([0, 15, 50_000])
    batches = batches_of(chance, 25)
    trial = make_trial("SlidingWindows", windows(size=size, grace=grace), COLUMNS)
    table: dict[Any, Row] = {}
    counted: list[Counted] = []
    watermark = 0
    for batch, changes in zip(batches, run(trial, batches), strict=True):
        counted += [(row, watermark) for row in batch if row[1] > watermark]
        watermark = max(watermark, *(t - size - grace for _, t, _ in batch))
        replay(table, changes)
        assert as_windows(list(table.values())) == sliding_of(counted, size)


@pytest.mark.parametrize("seed", range(4))
def test_each_sliding_window_is_final_once(seed: int, make_trial: MakeTrial) -> None:
    chance = random.Random(seed)
    size, grace = chance.choice([1, 10, 30]), chance.choice([0, 15])
    batches = [*batches_of(chance, 25), [("a", 10**6, 0)]]
    trial = make_trial("SlidingWindows", windows(size=size, grace=grace, emit="final"), COLUMNS)
    counted: list[Counted] = []
    final: list[Row] = []
    watermark = 0
    for batch, changes in zip(batches, run(trial, batches), strict=True):
        counted += [(row, watermark) for row in batch if row[1] > watermark]
        watermark = max(watermark, *(t - size - grace for _, t, _ in batch))
        final += changes
        closed = [w for w in sliding_of(counted, size) if w[1] <= watermark]
        assert as_windows(final) == closed
    assert not _state_before(trial, "windows", 10**6 - size)


def _state_before(trial: Trial, name: str, start: int) -> list[Any]:
    """What the state of this name still has under lower numbers."""
    trial.stop()
    read = trial.spark.read.format("statestore").option("stateVarName", name)
    kept = read.load(str(trial.folder)).selectExpr("user_map_key.*").toDF("value")
    return [row.value for row in kept.collect() if row.value < start]


def hopping_of(rows: list[Counted], size: int, advance: int) -> list[tuple[Any, ...]]:
    """The windows of rows, each of which counts where a window ends after its watermark."""
    found: dict[tuple[str, int], list[Event]] = {}
    for row, mark in rows:
        for start in range(row[1] // advance * advance, row[1] - size, -advance):
            if start + size > mark:
                found.setdefault((row[0], start), []).append(row)
    return sorted(summary(k, start, start + size, rows) for (k, start), rows in found.items())


@pytest.mark.parametrize("seed", range(4))
def test_hopping_windows_are_the_same_whatever_the_order(seed: int, make_trial: MakeTrial) -> None:
    chance = random.Random(seed)
    size, grace = chance.choice([1, 10, 30]), chance.choice([0, 15, 50_000])
    advance = chance.randrange(1, size + 1)
    batches = [*batches_of(chance, 25), [("a", 10**6, 0)], [("a", 10**6, 0)]]
    options = windows(size=size, advance=advance, grace=grace)
    trial = make_trial("HoppingWindows", options, COLUMNS)
    table: dict[Any, Row] = {}
    counted: list[Counted] = []
    watermark = 0
    for batch, changes in zip(batches, run(trial, batches), strict=True):
        counted += [(row, watermark) for row in batch]
        watermark = max(watermark, *(t - grace for _, t, _ in batch))
        replay(table, changes)
        assert as_windows(list(table.values())) == hopping_of(counted, size, advance)
    slot = 16 * advance if 16 * advance > size else -(-size // advance) * advance
    assert not _state_before(trial, "slots", (10**6 - size - grace) // slot)


# Each operator in a query of its own, over one topic, until its standard input ends.
PROGRAM = """
import json, sys
from pyspark.sql import DataFrame, SparkSession, functions as F
asked = json.loads(sys.argv[1])
builder = SparkSession.builder.master("local[24]")
for name, value in asked["conf"].items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
servers = {"kafka.bootstrap.servers": asked["servers"]}
queries = []
for topic, (operator, options) in asked["queries"].items():
    read = spark.readStream.format("kafka").options(**servers).option("subscribe", asked["topic"])
    rows = (
        read.option("startingOffsets", "earliest").load()
        .select(F.from_json(F.col("value").cast("string"), asked["columns"]).alias("it"), "offset")
        .select("it.*", "offset")
    )
    called = getattr(spark._jvm.headrace, operator)
    out = DataFrame(called.apply([rows._jdf], json.dumps(options)), spark)
    write = (
        out.select(F.to_json(F.struct("*")).alias("value")).writeStream.format("kafka")
        .options(**servers).option("topic", topic).outputMode("update")
        .option("checkpointLocation", asked["checkpoints"] + "/" + topic)
    )
    real_time = {"realTime": "5 seconds"} if asked["real_time"] else {"processingTime": "0 seconds"}
    queries.append(write.option("kafka.linger.ms", 0).trigger(**real_time).start())
print("started", flush=True)
sys.stdin.read()
for query in queries:
    if query.exception():
        raise query.exception()
    query.stop()
"""


@dataclass
class Live:
    """The program on Kafka, whatever runs of it there have been, and what came out."""

    servers: str
    folder: Path
    queries: dict[str, tuple[str, dict[str, Any]]]
    process: "subprocess.Popen[bytes] | None" = None

    def start(self, *, real_time: bool) -> None:
        conf = {**CONF, "spark.jars": ",".join(map(str, spark_jars())), "spark.ui.enabled": "false"}
        conf["spark.sql.shuffle.partitions"] = "1"
        conf["spark.driver.host"] = "127.0.0.1"
        asked = {
            "conf": conf,
            "servers": self.servers,
            "topic": "windows-in",
            "columns": COLUMNS,
            "queries": self.queries,
            "checkpoints": str(self.folder),
            "real_time": real_time,
        }
        with (self.folder / "log.txt").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, json.dumps(asked)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
            )

    def stop(self) -> None:
        if self.process is not None:
            assert self.process.stdin
            self.process.stdin.close()
            assert self.process.wait(60) == 0, self.log()
            self.process = None

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def log(self) -> str:
        return (self.folder / "log.txt").read_text()[-6000:]

    def rows(self, topic: str) -> list[Row]:
        read = scenario.read_all(self.servers, [topic])
        return [json.loads(row["_value"]) for row in read]

    def wait_for(self, topic: str, done: Callable[[list[Row]], bool], seconds: float = 120) -> None:
        def missing() -> str | None:
            rows = self.rows(topic)
            assert self.process is None or self.process.poll() is None, self.log()
            return None if done(rows) else f"{topic}: {rows[-8:]}\n{self.log()}"

        wait_until(missing, seconds)


def newest(changes: list[Row]) -> list[tuple[Any, ...]]:
    """The table that changes come to, though some may have come twice."""
    table: dict[Any, Row] = {}
    for row in changes:
        table[row["k"], row["window"]["start"], row["window"]["end"]] = row
    return as_windows([row for row in table.values() if not row["_deleted"]])


@WITH_SCENARIOS
def test_on_kafka_from_micro_batches_to_real_time(broker: str, tmp_path: Path) -> None:
    chance = random.Random(1)
    concat = {"group_by": ["k"], "initial": "''", "expression": "concat(acc, x)"}
    live = Live(
        broker,
        tmp_path,
        {
            "windows-sessions": ("SessionWindows", windows(gap=10, grace=50_000)),
            "windows-final": ("SessionWindows", windows(gap=10, grace=0, emit="final")),
            "windows-sliding": ("SlidingWindows", windows(size=10, grace=50_000)),
            "windows-hopping": ("HoppingWindows", windows(size=10, advance=4, grace=50_000)),
            "windows-reduce": ("Reduce", {**concat, "version": ["offset"]}),
        },
    )
    scenario.make_topics(broker, ["windows-in", *live.queries], partitions=1)
    events: list[Event] = []

    def produce(rows: list[Event]) -> None:
        events.extend(rows)
        scenario.produce(broker, "windows-in", {"format": "json"}, given(*rows))

    def is_complete(topic: str) -> Callable[[list[Row]], bool]:
        if topic == "windows-sessions":
            return lambda rows: newest(rows) == sessions_of(events, 10)
        if topic == "windows-sliding":
            return lambda rows: newest(rows) == sliding_of([(e, 0) for e in events], 10)
        if topic == "windows-hopping":
            return lambda rows: newest(rows) == hopping_of([(e, 0) for e in events], 10, 4)
        text = {k: "".join(str(x) for key, _, x in events if key == k) for k in "ab"}
        return lambda rows: {row["k"]: row["acc"] for row in rows} == text

    def wait() -> None:
        for topic in live.queries.keys() - {"windows-final"}:
            live.wait_for(topic, is_complete(topic))

    try:
        produce([row for batch in batches_of(chance, 40) for row in batch])
        live.start(real_time=False)
        wait()
        # Real time alone starts on no checkpoint whose first batch was cut off: jobs never do.
        commits = [tmp_path / topic / "commits" / "0" for topic in live.queries]
        wait_until(lambda: None if all(c.exists() for c in commits) else "not committed", 60)
        live.stop()
        live.start(real_time=True)
        produce([row for batch in batches_of(chance, 40) for row in batch])
        wait()
        # Nothing is held back for the next row: the newest row has already come out, at once.
        before = len(live.rows("windows-reduce"))
        produce([("a", 200_000, 1)])
        wait()
        assert len(live.rows("windows-reduce")) == before + 1
        live.kill()
        live.start(real_time=True)
        produce([("b", 300_000, 1)])
        wait()
        # By then the watermark is past all but the newest, in the second checkpoint from here.
        ends = {session[2] for session in sessions_of(events, 10)} - {300_010}

        def is_final(rows: list[Row]) -> bool:
            return max((ms(row["window"]["end"]) for row in rows), default=0) == max(ends)

        live.wait_for("windows-final", is_final)
        # A batch that runs again says the same again.
        final = {brief(row) for row in live.rows("windows-final")}
        assert len({row[:3] for row in final}) == len(final)
        assert all(not row["_deleted"] for row in live.rows("windows-final"))
    finally:
        live.kill()
