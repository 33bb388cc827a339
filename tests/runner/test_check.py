"""Graphs that read but can't run: each problem on its step and field, in a sentence."""

import pytest

from runner.check import check
from runner.graph import read_graph
from tests.runner.drawn import NAMES, drawn

CONNECTIONS = {"local": {"type": "kafka"}, "store": {"type": "postgresql"}}

ORDERS = {
    "connection": "local",
    "topics": ["orders"],
    "format": "json",
    "columns": [
        {"name": "customer", "type": "string"},
        {"name": "amount", "type": "double"},
        {"name": "at", "type": "timestamp"},
    ],
}
SINK = {"connection": "local", "topic": "o"}
COUNT = {"group_by": ["customer"], "aggregations": [{"name": "n", "function": "count"}]}


def chain(*steps):
    """Steps drawn one after the other: (type, config), named s0, s1, …"""
    return {
        "steps": [{"id": f"s{i}", "type": t, "config": c} for i, (t, c) in enumerate(steps)],
        "edges": [{"from": f"s{i}", "to": f"s{i + 1}"} for i in range(len(steps) - 1)],
    }


def through(type_, config):
    return chain(("kafka_source", ORDERS), (type_, config), ("kafka_sink", SINK))


def reading(**config):
    return chain(("kafka_source", {**ORDERS, **config}), ("kafka_sink", SINK))


def counting(**config):
    return through("aggregate", {**COUNT, **config})


def joined(**config):
    lookup = {**ORDERS, "topics": ["customers"], "key": ["customer"], **config.pop("lookup", {})}
    return {
        "steps": [
            {"id": "left", "type": "kafka_source", "config": ORDERS},
            {"id": "right", "type": "lookup_table", "config": lookup},
            {"id": "join", "type": "join", "config": config},
            {"id": "out", "type": "kafka_sink", "config": SINK},
        ],
        "edges": [
            {"from": "left", "to": "join", "port": "left"},
            {"from": "right", "to": "join", "port": "right"},
            {"from": "join", "to": "out"},
        ],
    }


ON = [{"left": "customer", "right": "customer"}]
TUMBLING = {"kind": "tumbling", "size": "10 seconds"}

# A graph; then the step, field and words of each of its problems.
WRONG = {
    "empty": ({"steps": [], "edges": []}, [(None, "steps", "empty")]),
    "no sink": (chain(("kafka_source", ORDERS)), [(None, "steps", "add a sink")]),
    "no source": (
        chain(("filter", {"condition": "true"}), ("kafka_sink", SINK)),
        [(None, "steps", "add a source"), ("s0", "rows", "Nothing flows into Filter")],
    ),
    "missing fields": (
        chain(("kafka_source", {}), ("filter", {}), ("kafka_sink", {})),
        [
            ("s0", "connection", "Fill this in"),
            ("s1", "condition", "Fill this in"),
            ("s2", "connection", "Fill this in"),
        ],
    ),
    "wrong types": (
        through("filter", {"condition": 5}), [("s1", "condition", "must be a text")]
    ),
    "no topic": (reading(topics=[]), [("s0", "topics", "Name the topic")]),
    "topic and pattern": (reading(topic_pattern="x"), [("s0", "topic_pattern", "not both")]),
    "bad topic": (reading(topics=["a b"]), [("s0", "topics.0", "no name of a topic")]),
    "bad pattern": (
        reading(topics=[], topic_pattern="("),
        [("s0", "topic_pattern", "no regular expression")],
    ),
    "no columns": (reading(columns=[]), [("s0", "columns", "at least one column")]),
    "columns of text": (reading(format="text"), [("s0", "columns", "one column, value")]),
    "unknown format": (reading(format="xml"), [("s0", "format", "csv, text or bytes")]),
    "unknown type": (
        reading(columns=[{"name": "a", "type": "strng"}]),
        [("s0", "columns.0.type", "strng is no type")],
    ),
    "column twice": (
        reading(columns=[{"name": "a"}, {"name": "A"}]),
        [("s0", "columns.1.name", "used twice")],
    ),
    "name of ours": (
        reading(columns=[{"name": "_offset"}]), [("s0", "columns.0.name", "Headrace uses itself")]
    ),
    "name of ours for versions": (
        reading(columns=[{"name": "_Version"}]), [("s0", "columns.0.name", "Headrace uses itself")]
    ),
    "event time unknown": (reading(event_time="att"), [("s0", "event_time", "Did you mean at?")]),
    "event time no time": (reading(event_time="amount"), [("s0", "event_time", "no timestamp")]),
    "start": (reading(start="sometime"), [("s0", "start", "earliest")]),
    "start at no time": (
        reading(start={"timestamp": "noon"}), [("s0", "start.timestamp", "Write the time as")]
    ),
    "unknown connection": (
        reading(connection="locla"), [("s0", "connection", "There are: local, store")]
    ),
    "connection to something else": (
        reading(connection="store"), [("s0", "connection", "postgresql")]
    ),
    "unknown column": (
        through("filter", {"condition": "amout > 1"}),
        [("s1", "condition", "There is no column amout. Did you mean amount?")],
    ),
    "half an expression": (
        through("filter", {"condition": "amount >"}),
        [("s1", "condition", "no complete expression")],
    ),
    "unknown column in a query": (
        through("sql", {"query": "SELECT rows.customer, amout * 2 AS twice FROM rows"}),
        [("s1", "query", "amount")],
    ),
    "no expression": (through("filter", {"condition": " "}), [("s1", "condition", "Write an")]),
    "forbidden function": (
        through("filter", {"condition": "reflect('a', 'b')"}), [("s1", "condition", "reflect")]
    ),
    "aggregate in a filter": (
        through("filter", {"condition": "count(*) > 1"}), [("s1", "condition", "aggregate step")]
    ),
    "explode in a filter": (
        through("filter", {"condition": "explode(x)"}), [("s1", "condition", "explode step")]
    ),
    "select the same twice": (
        through("select", {"columns": [{"name": "a", "expression": "1"}] * 2}),
        [("s1", "columns.1.name", "used twice")],
    ),
    "group by nothing known": (
        counting(group_by=["custmer"]), [("s1", "group_by.0", "Did you mean customer?")]
    ),
    "result named as the key": (
        counting(aggregations=[{"name": "customer", "function": "count"}]),
        [("s1", "aggregations.0.name", "choose another")],
    ),
    "sum of nothing": (
        counting(aggregations=[{"name": "n", "function": "sum"}]),
        [("s1", "aggregations.0", "Say what to take the sum of")],
    ),
    "window without size": (counting(window={"kind": "tumbling"}), [("s1", "window", "a size")]),
    "window of nothing": (
        counting(window={"kind": "tumbling", "size": "0 seconds"}),
        [("s1", "window.size", "longer than nothing")],
    ),
    "window of no duration": (
        counting(window={"kind": "tumbling", "size": "ten"}),
        [("s1", "window.size", "no duration")],
    ),
    "window that leaps": (
        counting(window={"kind": "hopping", "size": "5 seconds", "advance": "6 seconds"}),
        [("s1", "window", "more than its size")],
    ),
    "window on no time": (counting(window=TUMBLING, time="amount"), [("s1", "time", "timestamp")]),
    "window on nothing": (counting(window=TUMBLING, time="ta"), [("s1", "time", "no column")]),
    "window kind unknown": (counting(window={"kind": "round"}), [("s1", "window.kind", "Choose")]),
    "table into a step for streams": (
        chain(("kafka_source", ORDERS), ("aggregate", COUNT), ("aggregate", COUNT),
              ("kafka_sink", SINK)),
        [("s2", "rows", "gives a table; rows of Aggregate takes a stream")],
    ),
    "key dropped from a table": (
        chain(("kafka_source", ORDERS), ("aggregate", COUNT),
              ("select", {"columns": [{"name": "m", "expression": "n"}], "keep": "listed"}),
              ("kafka_sink", SINK)),
        [("s2", "columns", "customer is the table's key")],
    ),
    "key of a table made of what a deletion has not": (
        chain(("kafka_source", ORDERS), ("aggregate", COUNT),
              ("select", {"columns": [{"name": "Customer", "expression": "concat(customer, n)"}]}),
              ("kafka_sink", SINK)),
        [("s2", "columns.0.expression", "can't be made of n, which a deletion doesn't have")],
    ),
    "group by a name of ours": (
        counting(group_by=["_Arrived"]), [("s1", "group_by.0", "Headrace uses itself")]
    ),
    "result with a name of ours": (
        counting(aggregations=[{"name": "_version", "function": "count"}]),
        [("s1", "aggregations.0.name", "Headrace uses itself")],
    ),
    "query that gives a name of ours": (
        through("sql", {"query": "SELECT customer, 1 AS _offset FROM rows"}),
        [("s1", "query", "_offset is a name Headrace uses itself")],
    ),
    "key of a processor that is a list": (
        chain(("kafka_source", {**ORDERS, "columns": [{"name": "items", "type": "array<string>"}],
                                "event_time": None}),
              ("python_processor", {
                  "key": ["items"], "columns": [{"name": "n", "type": "int"}],
                  "code": "class P:\n def on_row(self, key, row, store, timers):\n  yield {}"}),
              ("kafka_sink", SINK)),
        [("s1", "key.0", "items is no plain value")],
    ),
    "key of a table that only deletions have": (
        chain(("kafka_table", {**ORDERS, "key": ["_deleted"]}), ("kafka_sink", SINK)),
        [("s0", "key.0", "There is no column _deleted")],
    ),
    "key of a lookup named twice": (
        joined(on=[{"left": "customer", "right": "customer"}], prefixes={"right": "their_"},
               lookup={"key": ["customer", "Customer"]}),
        [("right", "key", "named twice")],
    ),
    "no topic to write": (
        through("kafka_sink", {"connection": "local"}),
        [("s1", "topic", "Name the topic"), ("s2", "edges", "is a sink")],
    ),
    "join of one side": (
        chain(("kafka_source", ORDERS), ("join", {"on": ON}), ("kafka_sink", SINK)),
        [("s1", "edges", "the inputs are: left, right"), ("s1", "left", "Nothing flows"),
         ("s1", "right", "Nothing flows")],
    ),
    "join on nothing known": (
        joined(on=[{"left": "customr", "right": "who"}]),
        [("join", "on.0.left", "Did you mean customer?"), ("join", "on.0.right", "no column who")],
    ),
    "join without prefixes": (
        joined(on=ON), [("join", "prefixes", "amount"), ("join", "prefixes", "at")]
    ),
    "join of different types": (
        joined(on=[{"left": "customer", "right": "amount"}], prefixes={"right": "r_"}),
        [("join", "on.0", "cast one of them")],
    ),
    "lookup key unknown": (
        joined(on=ON, prefixes={"right": "r_"}, lookup={"key": ["id"]}),
        [("right", "key.0", "no column id")],
    ),
    "branch named otherwise": (
        through("branch", {"branches": [{"name": "otherwise", "condition": "true"}]}),
        [("s1", "branches.0.name", "choose another name"), ("s2", "edges", "several outputs")],
    ),
    "several at once": (
        chain(("kafka_source", {**ORDERS, "event_time": "x", "on_bad_record": "drop"}),
              ("kafka_sink", {**SINK, "topic": "?"})),
        [("s0", "on_bad_record", "Choose"), ("s1", "topic", "no name of a topic")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_each_problem_is_named(name):
    data, expected = WRONG[name]
    found = [p for p in check(read_graph(data), CONNECTIONS).problems if p.severity == "error"]
    shown = [(p.step, p.field, p.message) for p in found]
    for step, field, words in expected:
        assert any(s == step and f == field and words in m for s, f, m in shown), shown
    for step, field, message in shown:
        known = any(step == s and field == f and words in message for s, f, words in expected)
        assert known, shown


def test_steps_below_a_broken_one_are_not_blamed():
    graph = through("filter", {"condition": "amout > 1"})
    assert {p.step for p in check(read_graph(graph), CONNECTIONS).problems} == {"s1"}


def test_a_step_that_no_sink_reads_is_a_warning():
    graph = through("filter", {"condition": "true"})
    graph["steps"].append({"id": "lost", "type": "filter", "config": {"condition": "true"}})
    graph["edges"].append({"from": "s0", "to": "lost"})
    (problem,) = check(read_graph(graph), CONNECTIONS).problems
    assert (problem.step, problem.severity) == ("lost", "warning")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT r.customer, _offset FROM rows AS r WHERE AMOUNT > 1",
        "SELECT amount * 2 AS twice, twice + 1 AS more FROM rows",
        "SELECT transform(array(amount), x -> x + 1) AS more FROM rows",
        "SELECT timestampadd(MINUTE, 1, at) AS later FROM rows",
    ],
)
def test_a_query_may_name_what_it_makes(query):
    graph = read_graph({"version": 1, **through("sql", {"query": query})})
    assert check(graph, CONNECTIONS).problems == []


@pytest.mark.parametrize("name", NAMES)
def test_sound_graphs_have_no_problems(name):
    graph = read_graph(drawn(name))
    assert check(graph, CONNECTIONS).problems == []


def test_what_flows_is_known():
    rows = check(read_graph(counting(window=TUMBLING)), CONNECTIONS).rows
    assert rows["s0"].kind == "stream"
    assert rows["s0"].value_names == ("customer", "amount", "at")
    assert (rows["s1"].kind, rows["s1"].key) == ("table", ("window", "customer"))
    assert rows["s1"].names == ("window", "customer", "n", "_version")
