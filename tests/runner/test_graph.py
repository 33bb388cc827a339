"""Graphs whose shape is wrong: every problem at once, with its step and field, and quickly."""

import time

import pytest

from runner.graph import read_graph
from runner.problems import InvalidGraph


def source(id_="rows", **more):
    config = {"connection": "local", "topics": ["t"], "format": "text"}
    return {"id": id_, "type": "kafka_source", "config": config, **more}


def sink(id_="out", **more):
    return {
        "id": id_,
        "type": "kafka_sink",
        "config": {"connection": "local", "topic": "o"},
        **more,
    }


def kept(id_="kept"):
    return {"id": id_, "type": "filter", "config": {"condition": "true"}}


def graph(*steps, edges=(), **more):
    return {"version": 1, "steps": list(steps), "edges": list(edges), **more}


def edge(from_, to, **more):
    return {"from": from_, "to": to, **more}


def problems(data):
    with pytest.raises(InvalidGraph) as error:
        read_graph(data)
    return [(p.step, p.field, p.message) for p in error.value.problems]


CIRCLE = graph(
    source(),
    {"id": "both", "type": "merge", "config": {}},
    kept(),
    edges=[edge("rows", "both"), edge("both", "kept"), edge("kept", "both")],
)

WRONG = {
    "no object": ([], [(None, None, "object")]),
    "newer version": (graph(version=2), [(None, "version", "newer version")]),
    "unknown field": (graph(extra=1), [(None, "extra", "no field extra")]),
    "unknown field of a step": (graph(source(colour="red")), [("rows", "colour", "no field")]),
    "unknown field of an edge": (
        graph(source(), sink(), edges=[edge("rows", "out", weight=1)]),
        [("out", "weight", "no field weight")],
    ),
    "unknown field of a config": (
        graph({**kept(), "config": {"condition": "true", "speed": 1}}),
        [("kept", "speed", "no field speed")],
    ),
    "unknown type": (graph({"id": "a", "type": "filtr"}), [("a", "type", "Did you mean filter?")]),
    "same id twice": (graph(source(), source()), [("rows", "id", "Two steps")]),
    "keyword as id": (graph(source("class")), [("class", "id", "can't name a step")]),
    "name the program uses": (graph(source("spark")), [("spark", "id", "can't name a step")]),
    "capital in id": (graph(source("Rows")), [("Rows", "id", "can't name a step")]),
    "loose edge": (
        graph(source(), edges=[edge("rows", "gone")]),
        [("rows", "edges", "gone, which is no step")],
    ),
    "edge to itself": (graph(kept(), edges=[edge("kept", "kept")]), [("kept", "edges", "itself")]),
    "edge drawn twice": (
        graph(source(), sink(), edges=[edge("rows", "out"), edge("rows", "out")]),
        [("out", "edges", "twice")],
    ),
    "circle": (CIRCLE, [("kept", "edges", "circle"), ("both", "edges", "circle")]),
    "not a number": (
        graph({**kept(), "config": {"condition": float("nan")}}),
        [("kept", None, "not finite")],
    ),
    "half a character": (graph(source(label="\ud800")), [("rows", None, "character")]),
    "NUL": (graph(source(label="a\0b")), [("rows", None, "character")]),
    "long text": (graph(source(label="x" * 100_000)), [("rows", None, "longer than 20,000")]),
    "long label": (graph(source(label="x" * 300)), [("rows", "label", "too long")]),
    "steps that are no list": ({"version": 1, "steps": 5}, [(None, "steps", "must be a list")]),
    "step that is no object": (graph(5), [(None, "steps", "must be an object")]),
    "id that is no text": (graph(source(5)), [(None, "id", "must be a text")]),
    "everything at once": (
        graph(source("Rows"), {"id": "b", "type": "x"}, edges=[edge("b", "c")]),
        [("Rows", "id", "can't"), ("b", "type", "no step type"), ("b", "edges", "no step")],
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_shape_is_named(name):
    data, expected = WRONG[name]
    found = problems(data)
    for step, field, words in expected:
        assert any(p[0] == step and p[1] == field and words in p[2] for p in found), found
    assert len(found) == len(expected)


def test_deep_values_are_refused_quickly():
    deep: object = 1
    for _ in range(900):
        deep = [deep]
    assert problems(graph({**kept(), "config": {"condition": deep}}))[0][2].startswith("Values are")


@pytest.mark.parametrize(("steps", "edges"), [(10_000, 0), (2, 100_000)])
def test_huge_graphs_are_refused_within_a_second(steps, edges):
    data = graph(
        *(kept(f"s{i}") for i in range(steps)), edges=[edge("s0", "s1") for _ in range(edges)]
    )
    begun = time.perf_counter()
    assert "may have" in problems(data)[0][2]
    assert time.perf_counter() - begun < 1


def test_the_largest_graph_is_read_within_a_second():
    steps = [source()] + [kept(f"s{i}") for i in range(1_999)]
    edges = [edge("rows", "s0")] + [edge(f"s{i}", f"s{i + 1}") for i in range(1_998)]
    begun = time.perf_counter()
    assert len(read_graph(graph(*steps, edges=edges)).in_order) == 2_000
    assert time.perf_counter() - begun < 1


def test_unsound_drafts_can_be_read():
    read_graph(graph())
    read_graph(graph({"id": "a", "type": "filter", "config": {}}))
    read_graph(graph(source(), {"id": "j", "type": "join"}, edges=[edge("rows", "j", port="left")]))


def test_odd_but_honest_text_is_kept():
    label = "\N{RIGHT-TO-LEFT OVERRIDE}zero\N{ZERO WIDTH SPACE}width 😀 <img onerror=x>"
    assert read_graph(graph(source(label=label))).steps[0].label == label
