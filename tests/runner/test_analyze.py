"""What a warm Spark says of graphs: columns of sound steps, problems of the others."""

import contextlib
import os
import signal
import time
from itertools import pairwise

import pytest
from py4j.protocol import Py4JError

from runner import analyze as analyzing
from runner.analyze import analyze, warm_session
from runner.graph import read_graph
from tests.runner.drawn import NAMES, drawn

CONNECTIONS = {"local": {"type": "kafka", "bootstrap_servers": "127.0.0.1:9"}}

VIEWS = {
    "connection": "local",
    "topics": ["views"],
    "format": "json",
    "columns": [
        {"name": "user", "type": "string"},
        {"name": "pages", "type": "array<string>"},
        {"name": "n", "type": "int"},
        {"name": "at", "type": "timestamp"},
    ],
}


def analyzed(*steps, edges=None):
    """The analysis of views followed by steps, one below the other."""
    all_steps = [{"id": "views", "type": "kafka_source", "config": VIEWS}, *steps]
    ids = [step["id"] for step in all_steps]
    if edges is None:
        edges = [{"from": a, "to": b} for a, b in pairwise(ids)]
    graph = read_graph({"version": 1, "steps": all_steps, "edges": edges})
    return analyze(graph, CONNECTIONS)


def columns(analysis, step):
    return {c["name"]: c["type"] for c in analysis.steps[step]["columns"]}


def test_columns_of_each_step_with_sparks_types():
    analysis = analyzed(
        {
            "id": "named",
            "type": "select",
            "config": {
                "keep": "listed",
                "columns": [
                    {"name": "user", "expression": "upper(user)"},
                    {"name": "share", "expression": "n / 3"},
                    {"name": "both", "expression": "named_struct('a', n, 'b', at)"},
                ],
            },
        },
        {
            "id": "counted",
            "type": "aggregate",
            "config": {
                "group_by": ["user"],
                "aggregations": [
                    {"name": "views", "function": "count"},
                    {"name": "shares", "function": "collect_list", "expression": "share"},
                ],
                "window": {"kind": "tumbling", "size": "10 seconds"},
            },
        },
    )
    assert analysis.problems == []
    assert columns(analysis, "views")["pages"] == "array<string>"
    assert columns(analysis, "views")["_offset"] == "bigint"
    named = columns(analysis, "named")
    assert (named["user"], named["share"]) == ("string", "double")
    assert named["both"] == "struct<a:int,b:timestamp>"
    counted = columns(analysis, "counted")
    assert counted["window"] == "struct<start:timestamp,end:timestamp>"
    assert (counted["views"], counted["shares"]) == ("bigint", "array<double>")


@pytest.mark.parametrize("name", NAMES)
def test_spark_has_nothing_against_what_compiles(name):
    graph = read_graph(drawn(name))
    analysis = analyze(graph, CONNECTIONS)
    assert analysis.problems == []
    without_rows = {"kafka_sink", "console_sink"}
    assert analysis.steps.keys() == {s.id for s in graph.steps if s.type not in without_rows}


OBJECTIONS = [
    ("filter", {"condition": "n"}, "condition", "not a boolean"),
    ("filter", {"condition": "pages.x = 1"}, "condition", "In pages[x]: "),
    (
        "filter",
        {"condition": "length(user, 1) = 1"},
        "condition",
        "length takes 1 arguments, not 2.",
    ),
    (
        "select",
        {"columns": [{"name": "a", "expression": "n"}, {"name": "b", "expression": "n + pages"}]},
        "columns.1.expression",
        "INT",
    ),
    (
        "branch",
        {
            "branches": [
                {"name": "a", "condition": "n > 1"},
                {"name": "b", "condition": "map(n) is null"},
            ]
        },
        "branches.1.condition",
        "map takes",
    ),
    ("explode", {"expression": "n", "as": "one"}, "expression", "ARRAY"),
    (
        "aggregate",
        {"aggregations": [{"name": "s", "function": "sum", "expression": "pages"}]},
        "aggregations.0.expression",
        "NUMERIC",
    ),
    (
        "kafka_sink",
        {"connection": "local", "topic_expression": "n + pages"},
        "topic_expression",
        "pages",
    ),
]


@pytest.mark.parametrize(("type_", "config", "field", "message"), OBJECTIONS)
def test_an_objection_names_step_and_field(type_, config, field, message):
    analysis = analyzed({"id": "wrong", "type": type_, "config": config})
    (problem,) = analysis.problems
    assert (problem.step, problem.field, problem.severity) == ("wrong", field, "error")
    assert message in problem.message
    assert problem.message.endswith((".", "?"))
    for rubbish in ("SQLSTATE", "MISMATCH", "`", "\n", "spark.sql"):
        assert rubbish not in problem.message
    assert analysis.steps.keys() == {"views"}


def test_a_column_that_only_spark_misses_is_suggested():
    analysis = analyzed(
        {
            "id": "pair",
            "type": "select",
            "config": {
                "columns": [{"name": "pair", "expression": "named_struct('first', n, 'second', n)"}]
            },
        },
        {"id": "wrong", "type": "filter", "config": {"condition": "pair.frist > 1"}},
    )
    (problem,) = analysis.problems
    assert problem.field == "condition"
    assert "frist" in problem.message
    assert "first" in problem.message


def test_what_lies_below_a_mistake_is_not_blamed():
    analysis = analyzed(
        {"id": "wrong", "type": "filter", "config": {"condition": "n"}},
        {"id": "below", "type": "filter", "config": {"condition": "n = 1"}},
        {"id": "beside", "type": "filter", "config": {"condition": "n = 2"}},
        edges=[
            {"from": "views", "to": "wrong"},
            {"from": "wrong", "to": "below"},
            {"from": "views", "to": "beside"},
        ],
    )
    assert [p.step for p in analysis.problems] == ["wrong"]
    assert analysis.steps.keys() == {"views", "beside"}


@pytest.fixture
def asked(monkeypatch):
    """The steps that Spark was asked about since, in order."""
    asked = []
    ask = analyzing._ask
    monkeypatch.setattr(analyzing, "_ask", lambda *args: asked.append(args[0]) or ask(*args))
    return asked


def test_an_edit_costs_only_what_lies_below_it(asked):
    def chain(last):
        return [
            {"id": f"s{i}", "type": "filter", "config": {"condition": f"n > {i}"}}
            for i in range(10)
        ] + [{"id": "last", "type": "filter", "config": {"condition": last}}]

    analyzed(*chain("n > 100"))
    asked.clear()
    analysis = analyzed(*chain("n > 101"))
    assert asked == ["last"]
    assert len(analysis.steps) == 12


def select(id_, **expressions):
    computed = [{"name": name, "expression": text} for name, text in expressions.items()]
    return {"id": id_, "type": "select", "config": {"columns": computed}}


def test_a_changed_column_costs_only_the_steps_that_name_it(asked):
    def chain(name):
        return [
            select("first", **{name: "n + 1"}),
            {"id": "kept", "type": "filter", "config": {"condition": "user IS NOT NULL"}},
            {"id": "each", "type": "explode", "config": {"expression": "pages", "as": "page"}},
            select("last", same=f"{name} * 2"),
            {"id": "once", "type": "deduplicate", "config": {"columns": ["user"]}},
        ]

    analyzed(*chain("renamed_before"))
    asked.clear()
    analysis = analyzed(*chain("renamed_after"))
    assert asked == ["first", "last"]
    computed = ["renamed_after", "_place_of_page", "page", "same", "_shuffled"]
    assert list(columns(analysis, "once")) == [*columns(analysis, "views"), *computed]


def test_a_column_of_another_type_is_asked_about_wherever_it_is_named(asked):
    def chain(expression):
        return [
            select("first", Typed=expression),
            {"id": "between", "type": "filter", "config": {"condition": "n > 1"}},
            select("user_of_it", after="tYPED"),
        ]

    analyzed(*chain("1"))
    asked.clear()
    analysis = analyzed(*chain("named_struct('inner', 1)"))
    assert asked == ["first", "user_of_it"]
    assert columns(analysis, "between")["Typed"] == "struct<inner:int>"
    assert columns(analysis, "user_of_it")["after"] == "struct<inner:int>"
    assert analyzed(*chain("array(1)")).steps["between"]["columns"][-1]["type"] == "array<int>"


ODD = {"ein `Tag`": "1", "ÄRGER": "2", "a.b": "3", "N": "'in place'", "with space": "4"}


def test_odd_names_and_replaced_columns_stay_where_spark_has_them():
    steps = (
        select("odd", **ODD),
        select("replaced", **{"ärger": "`ärger` || 'x'", "PAGES": "size(pages)"}),
        {"id": "page", "type": "explode", "config": {"expression": "array(n)", "as": "User"}},
        {"id": "kept", "type": "filter", "config": {"condition": "`a.b` > `ein ``Tag```"}},
    )
    assert analyzed(*steps).steps == whole(lambda: analyzed(*steps)).steps
    assert analyzed(*steps).problems == []


def whole(analysis):
    """An analysis in which every step is tried on all columns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analyzing, "_known", analyzing.OrderedDict())
        patch.setattr(analyzing._Column, "is_named", lambda *_: True)
        return analysis()


@pytest.mark.parametrize("name", NAMES)
def test_columns_that_a_step_does_not_name_make_no_difference(name):
    graph = read_graph(drawn(name))
    few = analyze(graph, CONNECTIONS)
    assert few == whole(lambda: analyze(graph, CONNECTIONS))


@pytest.mark.parametrize(("type_", "config", "field", "message"), OBJECTIONS)
def test_objections_are_the_same_without_the_other_columns(type_, config, field, message):
    wrong = {"id": "wrong", "type": type_, "config": config}
    assert analyzed(wrong) == whole(lambda: analyzed(wrong))


def test_mistakes_of_drafts_are_no_errors_of_ours(capfd):
    warm_session()
    capfd.readouterr()
    analyzed({"id": "wrong", "type": "filter", "config": {"condition": "n + pages > 1"}})
    assert capfd.readouterr() == ("", "")


def test_neither_files_nor_environment_can_be_read():
    spark = warm_session()
    assert spark.conf.get("spark.sql.runSQLOnFiles") == "false"
    assert spark.conf.get("spark.sql.variable.substitute") == "false"


def test_a_session_that_died_is_made_anew():
    before = warm_session()
    os.kill(analyzing._java.pid, signal.SIGKILL)
    analyzing._java.wait(10)
    begun = time.monotonic()
    analysis = analyzed({"id": "big", "type": "filter", "config": {"condition": "n > 1"}})
    assert analysis.steps.keys() == {"views", "big"}
    assert warm_session() is not before
    assert time.monotonic() - begun < 60


def test_a_java_that_dies_in_the_middle_costs_no_more_than_that_answer(monkeypatch):
    steps = [{"id": f"s{i}", "type": "filter", "config": {"condition": f"n > {i}"}} for i in "45"]
    ask = analyzing._ask

    def ask_the_dying(id_, *rest):
        if id_ == "s5":
            os.kill(analyzing._java.pid, signal.SIGKILL)
            analyzing._java.wait(10)
        return ask(id_, *rest)

    monkeypatch.setattr(analyzing, "_ask", ask_the_dying)
    # Whether it can still be given depends on what was asked of that Java before.
    with contextlib.suppress(Py4JError, OSError):
        analyzed(*steps)
    monkeypatch.setattr(analyzing, "_ask", ask)
    analysis = analyzed(*steps)
    assert analysis.problems == []
    assert analysis.steps.keys() == {"views", "s4", "s5"}


TYPED = (
    "coalesce(upper(user), 'it''s') = 'x' AND n BETWEEN -1 AND 2 OR CASE WHEN n > 1 THEN true END"
)


def test_what_is_half_typed_is_said_at_its_field():
    for end in range(1, len(TYPED) + 1):
        graph = {"id": "kept", "type": "filter", "config": {"condition": TYPED[:end]}}
        analysis = analyzed(graph)
        assert analysis.steps.keys() - {"kept"} == {"views"}
        for problem in analysis.problems:
            assert problem.field == "condition", TYPED[:end]
            assert problem.message.endswith((".", "?")), problem.message
    assert analysis.problems == []
    assert analysis.steps.keys() == {"views", "kept"}


def test_practice_leaves_what_it_was_about_known(asked):
    graph = read_graph(drawn(NAMES[0]))
    analyzing.practise([graph])
    assert asked
    asked.clear()
    analyze(graph, CONNECTIONS)
    assert asked == []
