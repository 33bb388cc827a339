"""Expressions: the allowed mean to Spark what their authors wrote, the others never reach it."""

import datetime
from pathlib import Path

import pytest

from runner import sql

HERE = Path(__file__).parent / "expressions"
ALLOWED = (HERE / "allowed.txt").read_text().splitlines()
REFUSED = (HERE / "refused.txt").read_text().splitlines()


@pytest.fixture(scope="module")
def row(spark):
    """One row with a column of every kind, in a real session."""
    return spark.createDataFrame(
        [
            (
                1, 2, "hello", datetime.date(2024, 2, 29),
                datetime.datetime(2024, 2, 29, 13, 14, 15, tzinfo=datetime.UTC),
                [3, 1, 2], {"k": 1, "l": 2}, (5, "y"), 7,
            )
        ],
        "a int, b int, s string, d date, t timestamp, xs array<int>, m map<string,int>, "
        "st struct<x:int,y:string>, `my col` int",
    )  # fmt: skip


def test_allowed_expressions_mean_what_was_written(row):
    from pyspark.sql import functions as F

    differ = []
    for begin in range(0, len(ALLOWED), 60):
        texts = ALLOWED[begin : begin + 60]
        written = row.select(*(F.expr(t).alias(f"c{i}") for i, t in enumerate(texts)))
        emitted = row.select(
            *(F.expr(sql.regenerate(t)).alias(f"c{i}") for i, t in enumerate(texts))
        )
        assert [f.dataType for f in written.schema] == [f.dataType for f in emitted.schema]
        differ += [
            (text, sql.regenerate(text), one, other)
            for text, one, other in zip(texts, written.first(), emitted.first(), strict=True)
            if one != other
        ]
    assert differ == []


def test_spark_has_every_function_that_expressions_may_call(row):
    there = {name for (name,) in row.sparkSession.sql("SHOW ALL FUNCTIONS").collect()}
    # What Spark's parser knows by itself.
    assert sql.FUNCTIONS - there <= {"timestampadd", "timestampdiff", "try_cast"}


@pytest.mark.parametrize("text", ALLOWED)
def test_what_is_emitted_stays_the_same(text):
    once = sql.regenerate(text)
    assert sql.regenerate(once) == once


@pytest.mark.parametrize("text", REFUSED)
def test_refused_expressions_say_why(text):
    with pytest.raises(sql.NotAllowed) as error:
        sql.regenerate(text)
    assert str(error.value).endswith((".", "?")), error.value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(" * 2_000 + "a" + ")" * 2_000, "nested"),
        ("+".join(["a"] * 5_000), "characters long"),
        ("+".join(["a"] * 1_500), "too many parts"),
        ("a\0b", "can't be shown"),
        ("\ud800", "can't be shown"),
        ("-" * 60 + "a", "Comments"),
        ("not " * 500 + "a", "nested"),
    ],
)
def test_monstrous_expressions_are_refused(text, words):
    with pytest.raises(sql.NotAllowed, match=words):
        sql.regenerate(text)


def test_columns_are_found_and_bound():
    text = "transform(xs, x -> x + st.x) = concat(a, s)"
    assert sql.columns_of(text) == {"xs", "st", "a", "s"}
    bound = sql.regenerate("a * 2 + st.x", {"a": "b + 1", "st": "other"})
    assert bound == "(b + 1) * 2 + (other).x"


@pytest.mark.parametrize(
    ("text", "emitted"),
    [
        ("String", "string"),
        ("DECIMAL(10, 2)", "decimal(10,2)"),
        (
            "array<struct<A: INT, b: map<string,double>>>",
            "array<struct<A:int,b:map<string,double>>>",
        ),
        ("timestamp", "timestamp"),
        ("struct<`x, y`:int>", "struct<`x, y`: int>"),
        ("long", "bigint"),
    ],
)
def test_types_are_read(text, emitted):
    assert sql.read_type(text) == emitted


@pytest.mark.parametrize(
    "text", ["strng", "int; drop", "array<", "array<foo>", "int, b int", "", "interval", "variant"]
)
def test_what_is_no_type_is_refused(text):
    with pytest.raises(sql.NotAllowed):
        sql.read_type(text)
