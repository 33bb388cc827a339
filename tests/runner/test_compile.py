"""Graphs in, programs out: each graph in graphs/ beside its golden in goldens/."""

import ast
import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.compile import compile_job
from runner.graph import read_graph
from runner.problems import InvalidGraph
from runner.steps import STEP_TYPES

HERE = Path(__file__).parent
GRAPHS = sorted((HERE / "graphs").glob("*.json"))
CONNECTIONS = {"local": {"type": "kafka", "bootstrap_servers": "127.0.0.1:9092"}}


def compiled(graph, **options):
    return compile_job(read_graph(graph), name="golden", connections=CONNECTIONS, **options)


@pytest.mark.parametrize("path", GRAPHS, ids=lambda p: p.stem)
def test_program_is_the_golden_one(path):
    script = compiled(json.loads(path.read_text())["graph"]).script
    golden = HERE / "goldens" / f"{path.stem}.py"
    if os.environ.get("HEADRACE_GOLDEN"):
        golden.write_text(script)
    assert script == golden.read_text()


def test_every_golden_has_its_graph():
    goldens = {path.stem for path in (HERE / "goldens").glob("*.py")}
    assert goldens == {path.stem for path in GRAPHS}


def test_every_step_type_stands_in_a_golden():
    used = {
        step["type"] for path in GRAPHS for step in json.loads(path.read_text())["graph"]["steps"]
    }
    assert used == set(STEP_TYPES)


@pytest.mark.parametrize("path", GRAPHS, ids=lambda p: p.stem)
def test_program_imports_only_pyspark(path):
    tree = ast.parse((HERE / "goldens" / f"{path.stem}.py").read_text())
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(i) for i in imports] == [
        "from pyspark.sql import SparkSession, functions as F"
    ]


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


def test_start_and_mode_overrule_the_drawing():
    graph = json.loads((HERE / "graphs" / "word-count.json").read_text())["graph"]
    job = compiled(graph, mode="micro_batch", start="latest")
    assert job.segments[0].mode == "micro_batch"
    assert '"startingOffsets", "latest"' in job.script
    assert "realTime" not in job.script


def test_a_mode_that_cannot_hold_is_a_problem_of_its_step():
    graph = json.loads((HERE / "graphs" / "sample-to-console.json").read_text())["graph"]
    with pytest.raises(InvalidGraph) as error:
        compiled(graph, mode="real_time")
    assert [p.step for p in error.value.problems] == ["ticks"]


def test_moving_a_step_changes_nothing_that_runs():
    graph = json.loads((HERE / "graphs" / "word-count.json").read_text())["graph"]
    moved = {**graph, "canvas": {"layout": {"lines": {"x": 10, "y": 20}}}}
    assert read_graph(graph).hash() == read_graph(moved).hash()
    assert compiled(graph) == compiled(moved)
