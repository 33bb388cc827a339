"""How graphs are cut into segments, in which mode, and why."""

import pytest

from runner.check import check
from runner.graph import read_graph
from runner.plan import plan
from tests.runner.drawn import NAMES, drawn


def plan_of(graph, mode="auto"):
    read = read_graph(graph)
    return plan(read, check(read).rows, mode)


def planned(name, mode="auto"):
    return plan_of(drawn(name), mode)


# Each segment: its id, mode, shape, and words of its reason.
EXPECTED = {
    "word-count": [("out", "real_time", "query", "record by record")],
    "product-views": [
        ("out", "real_time", "query", "record by record"),
        ("views_dead_letters", "micro_batch", "dead_letters", "put aside"),
    ],
    "branch": [("by_size", "real_time", "folded", "record by record")],
    "count-and-show": [("per_customer", "real_time", "folded", "record by record")],
    "explode-twice": [("orders", "micro_batch", "batch", "Orders (orders) runs in batches")],
    "sample-to-console": [("seen", "micro_batch", "batch", "Ticks (ticks)")],
    "merge": [("out", "real_time", "query", "record by record")],
    "merge-branches": [("out", "micro_batch", "query", "Merge (both)")],
    "lookup": [("out", "real_time", "query", "record by record")],
    "table-filter": [("out", "real_time", "query", "record by record")],
    "two-states": [
        ("out_customers", "real_time", "query", "record by record"),
        ("out_all", "real_time", "query", "record by record"),
    ],
    "text-limited": [("out", "micro_batch", "query", "limits the rows")],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_segments(name):
    found = [(s.id, s.mode, s.shape) for s in planned(name).segments]
    assert found == [expected[:3] for expected in EXPECTED[name]]
    for segment, expected in zip(planned(name).segments, EXPECTED[name], strict=True):
        assert expected[3] in segment.reason


def test_micro_batch_can_be_asked_for():
    (segment,) = planned("word-count", "micro_batch").segments
    assert (segment.mode, segment.reason) == ("micro_batch", "Micro-batch was asked for.")


def test_the_checkpoint_stays_with_the_mode_and_leaves_with_the_state():
    graph = drawn("word-count")

    def checkpoint(graph, mode="auto"):
        return plan_of(graph, mode).segments[0].checkpoint

    before = checkpoint(graph)
    assert checkpoint(graph, "micro_batch") == before
    graph["steps"][2]["config"]["condition"] = "length(word) > 2"
    graph["steps"][4]["config"]["topic"] = "elsewhere"
    assert checkpoint(graph) == before
    graph["steps"][3]["config"]["aggregations"].append({"name": "n", "function": "count"})
    assert checkpoint(graph) != before


def test_a_checkpoint_is_of_who_keeps_the_windows():
    """Where a row is in many, an operator does, but Spark where late rows are told exactly."""
    graph = drawn("product-views")

    def checkpoint(**changed):
        graph["steps"][2]["config"].update(changed)
        return plan_of(graph, "micro_batch").segments[0].checkpoint

    by_operator = checkpoint()
    assert checkpoint(late="exact") != by_operator
    assert checkpoint(late="usual") == by_operator


def test_every_step_has_a_segment():
    for name in NAMES:
        done = planned(name)
        assert all(done.segment_of(step["id"]) for step in drawn(name)["steps"])


def test_the_plan_reads_as_text():
    text = planned("product-views").as_text("shop")
    assert "segment out: real-time." in text
    assert "views → known → per_product → out" in text


@pytest.mark.parametrize("by_chance", ["uuid()", "UUID\n ()", "concat(rand(), 'x')"])
def test_what_comes_by_chance_is_computed_once_for_all_sinks(by_chance):
    """Folded, it would be written out for each sink, and come out another way."""
    graph = drawn("branch")
    (fork,) = (step for step in graph["steps"] if step["type"] == "branch")
    lot = {"columns": [{"name": "lot", "expression": by_chance}]}
    graph["steps"].append({"id": "lots", "type": "select", "config": lot})
    way = next(edge for edge in graph["edges"] if edge["from"] == fork["id"])
    graph["edges"].append({"from": "lots", "to": way["to"]})
    way["to"] = "lots"
    assert [segment.shape for segment in plan_of(graph).segments] == ["batch"]
