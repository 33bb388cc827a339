"""Where the rows of tables are, and which keys can be asked."""

import json

import pytest

from runner.asked_key import AskedKey, NoSuchKey, asked_key
from runner.check import check
from runner.graph import read_graph
from runner.plan import plan
from runner.tables import tables
from tests.runner.drawn import SCENARIOS, drawn

CONNECTIONS = {"local": {"type": "kafka", "bootstrap_servers": "127.0.0.1:9"}}
PAIR = {"user": "string", "n": "int"}
WINDOWED = {"window": "struct<start:timestamp,end:timestamp>", "user": "string"}


def told(name, mode="auto"):
    graph = read_graph(drawn(name))
    planned = plan(graph, check(graph, CONNECTIONS).rows, mode)
    return {table.step: table for table in tables(planned, name)}


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("word-count", {"counts": "state"}),
        (
            "table-table-full",
            {"budgets": "side", "spending": "side", "either": "state", "told": "state"},
        ),
        ("stream-table-inner", {"prices": "side"}),
        ("table-filter", {"counts": "state", "few": "state", "few_cheap": "state"}),
        ("to-table", {"newest": "topic"}),
    ],
)  # fmt: skip
def test_a_table_is_where_something_keeps_it(name, kept):
    assert {step: table.kept for step, table in told(name).items()} == kept


@pytest.mark.parametrize(
    ("name", "step", "live"),
    [("word-count", "counts", True), ("table-filter", "counts", False),
     ("table-filter", "few_cheap", True), ("table-table-full", "either", True)],
)  # fmt: skip
def test_what_is_not_committed_is_known_where_a_topic_carries_the_table(name, step, live):
    assert told(name)[step].live is live


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_table_of_every_scenario_can_be_asked(path):
    steps = json.loads(path.read_text())["graph"]["steps"]
    graph = read_graph({"version": 1, **json.loads(path.read_text())["graph"]})
    planned = plan(graph, check(graph, CONNECTIONS).rows)
    for table in tables(planned, path.stem):
        assert table.step in {step["id"] for step in steps}
        assert table.kept, table.step


@pytest.mark.parametrize(
    ("text", "key", "equal"),
    [
        ("to be", {"word": "string"}, [("word", "string", "to be")]),
        ("7", {"n": "bigint"}, [("n", "bigint", "7")]),
        ("7", {"word": "string"}, [("word", "string", "7")]),
        ('{"n": 7}', {"n": "bigint"}, [("n", "bigint", "7")]),
        ('{"user": "a", "n": "3"}', PAIR, [("user", "string", "a"), ("n", "int", "3")]),
        ('{"user": null}', PAIR, [("user", "string", None)]),
        ("a", WINDOWED, [("user", "string", "a")]),
        (
            '{"window": {"start": "2026-01-01T12:00:00Z"}}',
            WINDOWED,
            [("window.start", "timestamp", "2026-01-01T12:00:00+00:00")],
        ),
        ("true", {"b": "boolean"}, [("b", "boolean", "true")]),
        ("1.50", {"d": "decimal(10,2)"}, [("d", "decimal(10,2)", "1.50")]),
    ],
)
def test_a_key_is_read_by_the_types_of_its_columns(text, key, equal):
    asked = asked_key(text, None, list(key), key)
    assert [(path.strip("`"), *more) for path, *more in asked.equal] == equal


@pytest.mark.parametrize(
    ("text", "prefix", "key", "message"),
    [
        ("x", None, {"n": "bigint"}, 'n is of type bigint; "x" is none.'),
        ("3000000000", None, {"n": "int"}, 'n is of type int; "3000000000" is none.'),
        ('{"n": true}', None, PAIR, "n is of type int; true is none."),
        ('{"user": 5}', None, PAIR, "user is of type text; 5 is none."),
        ('{"page": "x"}', None, PAIR, "page is not in the key, which is user (text), n (int)."),
        ("a", None, PAIR, "The key is user (text), n (int); write it as"),
        ("a", None, {}, "This table has one row and no key; leave key out."),
        (None, "a", {"n": "bigint"}, "only text has a prefix"),
        (None, "a", {}, "leave prefix out"),
        ("x", None, {"l": "array<int>"}, "by which can't be asked; leave it out."),
    ],
)
def test_what_can_be_no_key_is_refused_in_words(text, prefix, key, message):
    with pytest.raises(NoSuchKey) as refused:
        asked_key(text, prefix, list(key), key)
    assert message in str(refused.value)


def test_a_prefix_is_of_the_first_column_that_is_no_window():
    assert asked_key(None, "a", list(WINDOWED), WINDOWED) == AskedKey(prefix=("user", "a"))
