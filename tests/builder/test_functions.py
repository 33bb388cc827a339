"""What the API tells of functions."""

from typing import Any

from runner import sql


def test_the_functions_of_expressions_and_aggregates_are_told(api: Any) -> None:
    told = api.get("/functions")
    (lower,) = (f for f in told if f["name"] == "lower")
    assert lower == {
        "name": "lower",
        "signature": "lower(str)",
        "summary": "Returns str with all characters changed to lowercase.",
        "group": "string_funcs",
        "example": "lower('SparkSql') → sparksql",
    }
    assert {f["name"] for f in told if f["group"] != "agg_funcs"} == sql.FUNCTIONS
    assert "count_distinct" in {f["name"] for f in told if f["group"] == "agg_funcs"}


def test_nobody_unknown_is_told(as_user: Any) -> None:
    as_user(None).get("/functions", 401)
