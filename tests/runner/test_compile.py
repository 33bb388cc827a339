"""Graphs in, programs out: each graph beside its golden in goldens/."""

import ast
import os
import re
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.compile import compile_job
from runner.graph import read_graph
from runner.problems import InvalidGraph
from runner.steps import STEP_TYPES
from tests.runner.drawn import NAMES, drawn

HERE = Path(__file__).parent
CONNECTIONS = {"local": {"type": "kafka", "bootstrap_servers": "127.0.0.1:9092"}}


def compiled(graph, **options):
    return compile_job(read_graph(graph), name="golden", connections=CONNECTIONS, **options)


@pytest.mark.parametrize("name", NAMES)
def test_program_is_the_golden_one(name):
    script = compiled(drawn(name)).script
    golden = HERE / "goldens" / f"{name}.py"
    if os.environ.get("HEADRACE_GOLDEN"):
        golden.write_text(script)
    assert script == golden.read_text()


def test_every_golden_has_its_graph():
    goldens = {path.stem for path in (HERE / "goldens").glob("*.py")}
    assert goldens == set(NAMES)


def test_every_step_type_stands_in_a_golden():
    used = {step["type"] for name in NAMES for step in drawn(name)["steps"]}
    assert used == set(STEP_TYPES)


@pytest.mark.parametrize("name", NAMES)
def test_program_imports_only_pyspark(name):
    tree = ast.parse((HERE / "goldens" / f"{name}.py").read_text())
    imported = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    imported |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    outside = {module.split(".")[0] for module in imported} - sys.stdlib_module_names
    # Spark itself calls Python with Arrow.
    assert outside <= ({"pyspark", "pyarrow"} if "mapInArrow" in ast.unparse(tree) else {"pyspark"})


def test_several_sinks_read_their_source_once():
    script = (HERE / "goldens" / "branch.py").read_text()
    assert script.count("readStream") == script.count("writeStream") == 1


def calls(script: str) -> list[str]:
    """Every call of a program, in order: what is called, with how many arguments."""
    return [
        f"{ast.unparse(node.func).rpartition('.')[2]}/{len(node.args)}/{len(node.keywords)}"
        for node in ast.walk(ast.parse(script))
        if isinstance(node, ast.Call)
    ]


def program(label, topic, column, literal, branch):
    """A graph with the user's text wherever text can stand, as a program; None where refused."""
    sql = "'" + literal.replace("\\", "\\\\").replace("'", "\\'") + "'"
    quoted = "`" + column.replace("`", "``") + "`"
    graph = {
        "version": 1,
        "steps": [
            {
                "id": "rows",
                "type": "kafka_source",
                "label": label,
                "config": {
                    "connection": "local",
                    "topics": [topic],
                    "format": "json",
                    "columns": [{"name": column, "type": "string"}],
                },
            },
            {
                "id": "named",
                "type": "select",
                "label": label,
                "config": {"columns": [{"name": column, "expression": f"{quoted} || {sql}"}]},
            },
            {
                "id": "split",
                "type": "branch",
                "config": {"branches": [{"name": branch, "condition": f"{quoted} = {sql}"}]},
            },
            {"id": "kept", "type": "filter", "config": {"condition": f"{quoted} <> {sql}"}},
            {
                "id": "counted",
                "type": "aggregate",
                "config": {
                    "group_by": [column],
                    "aggregations": [
                        {
                            "name": column + "2",
                            "function": "max",
                            "expression": f"{quoted} || {sql}",
                        }
                    ],
                },
            },
            {
                "id": "out",
                "type": "kafka_sink",
                "label": label,
                "config": {
                    "connection": "local",
                    "topic_expression": sql,
                    "key": [column],
                    "headers": [{"name": column, "expression": sql}],
                },
            },
        ],
        "edges": [
            {"from": "rows", "to": "named"},
            {"from": "named", "to": "split"},
            {"from": "split", "to": "kept", "output": branch},
            {"from": "kept", "to": "counted"},
            {"from": "counted", "to": "out"},
        ],
    }
    try:
        return compiled(graph).script
    except InvalidGraph:
        return None


PLAIN = calls(program("", "t", "c", "x", "b"))
TEXT = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            "'); import os; os.system('true'); ('",
            '"""\nimport os\n"""',
            "\\'", "\\\\'", "${env:HOME}", "x\ny", "x\ry", "\u2028", "\x0c", "{}", "{0!r}",
            "#", "# type: ignore", "`", "```", "a.b", "';--", "/*", "$$",
            "\N{RIGHT-TO-LEFT OVERRIDE}x",
        ]
    ),
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(label=TEXT, topic=TEXT, column=TEXT, literal=TEXT, branch=TEXT)
def test_no_text_changes_what_a_program_calls(label, topic, column, literal, branch):
    script = program(label, topic, column, literal, branch)
    assert script is None or calls(script) == PLAIN


@settings(max_examples=60, deadline=None)
@given(text=TEXT, field=st.sampled_from(["label", "column", "literal", "branch"]))
def test_no_single_text_changes_what_a_program_calls(text, field):
    """One odd text at a time: more of these are accepted, so more of them are tried."""
    fields = {"label": "l", "topic": "t", "column": "c", "literal": "x", "branch": "b"}
    script = program(**{**fields, field: text})
    assert script is None or calls(script) == PLAIN


@pytest.mark.parametrize("start", ["latest", {"timestamp": "2026-01-01T00:00:00Z"}])
def test_tables_are_read_whole_wherever_streams_begin(start):
    script = compiled(drawn("stream-table-inner"), start=start).script
    sources = script.split('readStream.format("kafka")')[1:]
    begins = [re.search(r'"(starting\w+)", "?(\w+)', source).groups() for source in sources]
    elsewhere = ("startingOffsets", "latest") if start == "latest" else (
        "startingTimestamp", "1767225600000",
    )  # fmt: skip
    assert set(begins) == {("startingOffsets", "earliest"), elsewhere}


def test_start_and_mode_overrule_the_drawing():
    graph = drawn("word-count")
    job = compiled(graph, mode="micro_batch", start="latest")
    assert job.segments[0].mode == "micro_batch"
    assert '"startingOffsets", "latest"' in job.script
    assert "realTime" not in job.script


def test_each_source_takes_of_given_offsets_those_of_its_topics():
    reads = {"connection": "local", "format": "text"}
    configs = {
        "one": {**reads, "topics": ["first"]},
        "two": {**reads, "topic_pattern": "sec.*", "start": "latest"},
        "three": {**reads, "topics": ["third"], "start": "latest"},
    }
    steps = [{"id": id_, "type": "kafka_source", "config": c} for id_, c in configs.items()]
    steps.append({"id": "all", "type": "merge"})
    steps.append({"id": "out", "type": "kafka_sink",
                  "config": {"connection": "local", "topic": "out"}})  # fmt: skip
    edges = [{"from": id_, "to": "all"} for id_ in configs] + [{"from": "all", "to": "out"}]
    start = {"offsets": {"first": {"0": 5}, "second": {"0": 7}, "gone": {"0": 9}}}
    job = compiled({"version": 1, "steps": steps, "edges": edges}, start=start)
    places = re.findall(r'"startingOffsets", (.*)\)', job.script)
    assert [ast.literal_eval(place) for place in places] == [
        '{"first": {"0": 5}}',
        '{"second": {"0": 7}}',
        "latest",
    ]


def test_a_mode_that_cannot_hold_is_a_problem_of_its_step():
    graph = drawn("sample-to-console")
    with pytest.raises(InvalidGraph) as error:
        compiled(graph, mode="real_time")
    assert [p.step for p in error.value.problems] == ["ticks"]


def test_moving_a_step_changes_nothing_that_runs():
    graph = drawn("word-count")
    moved = {**graph, "canvas": {"layout": {"lines": {"x": 10, "y": 20}}}}
    assert read_graph(graph).hash() == read_graph(moved).hash()
    assert compiled(graph) == compiled(moved)
