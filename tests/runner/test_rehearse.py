"""Rehearsals: every scenario on given rows gives what it must, and mistakes are told in words."""

import json
import time
from itertools import pairwise

import pytest

from runner.graph import read_graph
from runner.problems import InvalidGraph
from runner.rehearse import rehearse
from tests.runner import scenario
from tests.runner.drawn import SCENARIOS, drawn

CONNECTIONS = {"local": {"type": "kafka", "bootstrap_servers": "127.0.0.1:9"}}


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_rehearsal_gives_what_the_scenario_says(path):
    told = json.loads(path.read_text())
    done = rehearse(read_graph(told["graph"]), told["rows"], CONNECTIONS, seconds=240)
    assert done.problems == []
    for sink, expect in told["expect"].items():
        rows = done.dead_letters if sink == "dead_letters" else done.steps[sink]["rows"]
        assert scenario.difference(expect, rows) is None


def test_the_rows_of_every_step_come_back_with_their_batch():
    rows = {"lines": [{"value": "to be", "_batch": 0}, {"value": "or not to", "_batch": 1}]}
    done = rehearse(read_graph(drawn("word-count")), rows, CONNECTIONS)
    assert done.steps["lines"]["count"] == 2
    words = [(row["word"], row["_batch"]) for row in done.steps["words"]["rows"]]
    assert words == [("to", 0), ("be", 0), ("or", 1), ("not", 1), ("to", 1)]
    counts = {(row["word"], row["count"], row["_batch"]) for row in done.steps["counts"]["rows"]}
    assert counts == {("to", 1, 0), ("be", 1, 0), ("or", 1, 1), ("not", 1, 1), ("to", 2, 1)}


def chain(*steps):
    source = {
        "connection": "local", "topics": ["t"], "format": "json",
        "columns": [{"name": "a", "type": "string"}, {"name": "n", "type": "int"}],
    }  # fmt: skip
    sink = {"connection": "local", "topic": "o"}
    given = [("rows", "kafka_source", source), *steps, ("out", "kafka_sink", sink)]
    ids = [id_ for id_, _, _ in given]
    return read_graph(
        {
            "version": 1,
            "steps": [{"id": i, "type": t, "config": c} for i, t, c in given],
            "edges": [{"from": a, "to": b} for a, b in pairwise(ids)],
        }
    )


def test_a_step_that_spark_refuses_is_named():
    window = {"kind": "sliding", "size": "1 minute"}
    odd = {"name": "odd", "function": "stddev", "expression": "many"}
    steps = [
        ("lists", "select", {"columns": [{"name": "many", "expression": "array(n)"}]}),
        ("spread", "aggregate", {"aggregations": [odd], "window": window}),
    ]
    done = rehearse(chain(*steps), {"rows": [{"a": "x", "n": 1}]}, CONNECTIONS)
    (problem,) = done.problems
    assert (problem.step, "DOUBLE" in problem.message) == ("spread", True)


def python(code):
    return chain(
        ("own", "python_map", {"code": code, "columns": [{"name": "a", "type": "string"}]})
    )


def test_what_came_by_chance_stays_what_it_was():
    drawn_by_lot = {"columns": [{"name": "lot", "expression": "uuid()"}]}
    graph = chain(
        ("lots", "select", drawn_by_lot),
        ("kept", "filter", {"condition": "lot IS NOT NULL"}),
        ("again", "select", {"columns": [{"name": "same", "expression": "lot"}]}),
    )
    done = rehearse(graph, {"rows": [{"a": "x", "n": n} for n in range(5)]}, CONNECTIONS)
    lots = {row["lot"] for row in done.steps["lots"]["rows"]}
    assert len(lots) == 5
    assert {row["lot"] for row in done.steps["kept"]["rows"]} == lots
    assert {row["same"] for row in done.steps["again"]["rows"]} == lots


def test_columns_that_are_written_out_again_and_again_come_back():
    twice = {"columns": [{"name": "a", "expression": "concat(a, a)"}]}
    graph = chain(*((f"s{i}", "select", twice) for i in range(12)))
    done = rehearse(graph, {"rows": [{"a": "x", "n": 1}]}, CONNECTIONS)
    (row,) = done.steps["out"]["rows"]
    assert row["a"] == "x" * 2**12
    assert all(done.steps[f"s{i}"]["count"] == 1 for i in range(12))


HALF = {"columns": [{"name": "x", "expression": "1 / n"}]}
FORKING = """
class Own:
    def on_row(self, key, row, store, timers):
        import multiprocessing
        multiprocessing.get_context("fork").Process(target=print).start()
"""
FAILING = [
    (
        chain(("half", "select", {"columns": [{"name": "x", "expression": "1 / n"}]})),
        "half",
        "zero",
    ),
    (python("def f(row):\n    return {'b': 1}"), "own", "no declared columns"),
    (python("def f(row):\n    return 5"), "own", "TypeError"),
    (python("def f(row):\n    return {'a': row['none']}"), "own", "KeyError: 'none'"),
    (python("def f(row):\n    return {'a': {}}"), "own", "another type"),
    (python("def f(row):\n    while True: pass"), "own", "longer than 2 seconds"),
    (python("def f(row):\n    import os\n    os.fork()\n    return {}"), "own", "may not fork"),
    (
        chain(
            (
                "own",
                "python_processor",
                {"code": FORKING, "key": ["a"], "columns": [{"name": "a", "type": "string"}]},
            )
        ),
        "own",
        "would write rows, too",
    ),
]


@pytest.mark.parametrize(("graph", "step", "words"), FAILING, ids=[w for _, _, w in FAILING])
def test_what_goes_wrong_is_a_problem_of_its_step(graph, step, words):
    done = rehearse(graph, {"rows": [{"a": "x", "n": 0}]}, CONNECTIONS, row_seconds=2)
    (problem,) = done.problems
    assert problem.step == step
    assert words in problem.message


def test_a_rehearsal_that_takes_too_long_is_ended():
    begun = time.monotonic()
    graph = python("def f(row):\n    import time\n    time.sleep(4)\n    return row")
    rows = {"rows": [{"a": "x", "n": 0}] * 20}
    done = rehearse(graph, rows, CONNECTIONS, seconds=3)
    assert "longer than 3 seconds" in done.problems[0].message
    assert time.monotonic() - begun < 30


BAD_ROWS = [
    ({"nobody": [{}]}, "no source"),
    ({"out": [{}]}, "no source"),
    ({"rows": [{"_batch": "soon"}]}, "Row 1"),
    ({"rows": [{"_timestamp": "yesterday"}]}, "Row 1"),
    ({"rows": [[]]}, "Row 1"),
    ({"rows": [{"_batch": 5_000_000}]}, "batches"),
    ({"rows": [{"n": 1}] * 10_001}, "10,000 rows"),
]


@pytest.mark.parametrize(("rows", "words"), BAD_ROWS, ids=[w for _, w in BAD_ROWS])
def test_rows_that_can_not_be_used_are_refused(rows, words):
    with pytest.raises(InvalidGraph) as refused:
        rehearse(chain(), rows, CONNECTIONS)
    assert words in refused.value.problems[0].message


def test_rows_that_fit_no_column_are_told():
    rows = [{"a": "x"}, {"b": 1, "c": 2}, {"_key": "k"}, {"value": "no json"}, {"d": 3}]
    done = rehearse(chain(), {"rows": rows}, CONNECTIONS)
    (problem,) = done.problems
    assert (problem.step, problem.field, problem.severity) == ("rows", "rows", "warning")
    assert "2 rows, as row 2, have none of the columns" in problem.message
    assert "a, n; it has b, c." in problem.message
    assert done.steps["rows"]["count"] == 4
