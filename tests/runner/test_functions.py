"""What people are told of functions: all they may call, nothing else, and Spark's word."""

import pytest

from runner import sql
from runner.functions import aggregate_functions, described, functions


def test_every_function_that_may_be_called_is_told_of_and_no_other():
    told = [(f["name"], f["group"] == "agg_funcs") for f in functions()]
    assert len(told) == len(set(told))
    assert {name for name, aggregates in told if not aggregates} == sql.FUNCTIONS
    assert {name for name, aggregates in told if aggregates} == set(aggregate_functions())


def test_each_has_a_signature_and_a_summary():
    for function in functions():
        assert set(function) == {"name", "signature", "summary", "group", "example"}
        assert function["signature"], function
        assert len(function["summary"]) > 10, function


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("abs", "abs(expr)"),
        ("mod", "mod(expr1, expr2)"),
        ("timestampadd", "timestampadd(unit, quantity, timestamp)"),
    ],
)
def test_signatures_are_those_of_calls(name, signature):
    (found,) = (f for f in functions() if f["name"] == name)
    assert found["signature"] == signature


def test_it_is_what_the_pinned_spark_says():
    from runner.analyze import warm_session

    assert functions() == described(warm_session())
