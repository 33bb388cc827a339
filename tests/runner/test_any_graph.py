"""Graphs drawn at random: sound ones compile, Spark has nothing against them and they run; of the
others each is refused with problems, never with an exception."""

import copy
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

from runner.analyze import analyze, warm_session
from runner.check import check
from runner.compile import PRELUDE, compile_job, statements
from runner.graph import read_graph
from runner.plan import plan
from runner.problems import InvalidGraph, Problem
from runner.rehearse import rehearse
from runner.steps import STEP_TYPES
from tests.runner.test_analyze import whole

CONNECTIONS = {"local": {"type": "kafka", "bootstrap_servers": "127.0.0.1:9"}}
COLUMNS = [
    {"name": "a", "type": "string"},
    {"name": "b", "type": "int"},
    {"name": "c", "type": "double"},
    {"name": "at", "type": "timestamp"},
    {"name": "many", "type": "array<string>"},
]
DURATIONS = st.sampled_from(["1 second", "90 seconds", "5 minutes", "1 hour"])
CONDITIONS = st.sampled_from(["b > 3", "a is not null", "a like 'x%' or b = 1", "_key = 'k'"])
EXPRESSIONS = st.sampled_from(["upper(a)", "b + 1", "c * 2.5", "coalesce(a, 'none')", "size(many)"])
NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
GROUPS = st.sampled_from(["a", "b", "C", "d", "at", "many", "_key"])
FUNCTIONS = [
    "count", "sum", "min", "max", "avg", "first", "last", "count_distinct", "collect_list",
    "collect_set", "stddev", "percentile",
]  # fmt: skip


@st.composite
def windows(draw: st.DrawFn) -> dict[str, str]:
    kind = draw(st.sampled_from(["none", "tumbling", "hopping", "sliding", "session"]))
    if kind == "hopping":
        return {
            "kind": kind,
            "size": "10 minutes",
            "advance": draw(DURATIONS.filter("1 hour".__ne__)),
        }
    measure = {"tumbling": "size", "sliding": "size", "session": "gap"}.get(kind)
    return {"kind": kind, measure: draw(DURATIONS)} if measure else {"kind": kind}


@st.composite
def configs(draw: st.DrawFn, type_: str) -> dict[str, Any]:
    """A configuration of a step type, that may or may not suit what flows in."""
    columns = st.lists(GROUPS, min_size=1, max_size=2, unique=True)
    if type_ in ("kafka_source", "kafka_table", "lookup_table"):
        config = {"connection": "local", "topics": [draw(st.sampled_from(["t", "u", "v"]))],
                  "format": "json", "columns": COLUMNS}  # fmt: skip
        if type_ == "kafka_source":
            config["on_bad_record"] = draw(st.sampled_from(["skip", "fail", "dead_letter"]))
            config["event_time"] = "at"
        elif draw(st.booleans()):
            config["key"] = draw(st.sampled_from([["a"], ["b", "A"], ["at"]]))
        return config
    made: dict[str, Any] = {
        "filter": lambda: {"condition": draw(CONDITIONS)},
        "select": lambda: {
            "columns": [{"name": draw(NAMES), "expression": draw(EXPRESSIONS)}],
            "keep": draw(st.sampled_from(["all", "listed"])),
        },
        "explode": lambda: {"expression": "many", "as": draw(NAMES)},
        "branch": lambda: {"branches": [{"name": "some", "condition": draw(CONDITIONS)}]},
        "merge": lambda: {"strict": draw(st.booleans())},
        "key_by": lambda: draw(st.sampled_from([{"columns": ["a"]}, {"columns": ["a", "b"]},
                                                {"expression": "a || 'x'"},
                                                {"columns": ["b"], "through": "by-b"}])),
        "peek": dict,
        "sql": lambda: {"query": draw(st.sampled_from(
            ["SELECT a, b + 1 AS b2 FROM rows WHERE b > 0", "SELECT * FROM rows"]))},
        "python_map": lambda: {"code": "def f(row):\n    return {'a': str(row['a'])}",
                               "columns": [{"name": "a", "type": "string"}]},
        "aggregate": lambda: {
            "group_by": draw(st.lists(GROUPS, max_size=2, unique=True)),
            "aggregations": [
                {"name": name, "function": draw(st.sampled_from(FUNCTIONS)),
                 "expression": draw(st.sampled_from(["b", "c", "b + 1"]))}
                for name in draw(st.lists(st.sampled_from(["x", "y"]), min_size=1, unique=True))
            ],
            "window": draw(windows()), "grace": draw(DURATIONS),
            "emit": draw(st.sampled_from(["updates", "updates", "final"])),
        },
        "reduce": lambda: {"group_by": draw(columns), "initial": "cast(0 as bigint)",
                           "expression": "acc + b"},
        "join": lambda: {
            "kind": draw(st.sampled_from(["inner", "left", "full"])),
            "on": [{"left": "a", "right": draw(st.sampled_from(["a", "_key"]))}],
            "prefixes": {"right": draw(st.sampled_from(["r_", "other_"]))},
            **draw(st.sampled_from([{}, {"within": {"before": "1 minute", "after": "5 minutes"}}])),
        },
        "deduplicate": lambda: {"columns": draw(columns),
                                **draw(st.sampled_from([{}, {"within": "5 minutes"}]))},
        "to_table": lambda: {"key": draw(columns)},
        "to_stream": dict,
        "python_processor": lambda: {
            "key": draw(columns), "columns": [{"name": "a", "type": "string"}],
            "time": draw(st.sampled_from(["event", "processing"])),
            "code": "class P:\n    def on_row(self, key, row, store, timers):\n        yield {}"},
        "kafka_sink": lambda: {"connection": "local", "topic": "out"},
        "console_sink": dict,
        "sample_source": lambda: {"columns": [{"name": "a", "expression": "string(value)"},
                                              {"name": "b", "expression": "int(value)"}]},
    }[type_]()  # fmt: skip
    return made


@st.composite
def sound_graphs(draw: st.DrawFn) -> dict[str, Any]:
    """Step after step, each kept only where Headrace has nothing against it."""
    graph: dict[str, Any] = {"version": 1, "steps": [], "edges": []}
    sources = ["kafka_source", "kafka_source", "kafka_table", "lookup_table", "sample_source"]
    for n, type_ in enumerate(
        ["kafka_source", *draw(st.lists(st.sampled_from(sources), max_size=2))]
    ):
        graph["steps"].append({"id": f"s{n}", "type": type_, "config": draw(configs(type_))})
    inner = sorted(set(STEP_TYPES) - {*sources, "kafka_sink", "console_sink"})
    for n in range(draw(st.integers(1, 7))):
        type_ = draw(st.sampled_from(inner))
        _add(graph, draw, f"n{n}", type_, draw(configs(type_)))
    for n in range(draw(st.integers(1, 3))):
        type_ = draw(st.sampled_from(["kafka_sink", "kafka_sink", "console_sink"]))
        _add(graph, draw, f"out{n}", type_, draw(configs(type_)))
    if not any(step["id"].startswith("out") for step in graph["steps"]):
        graph["steps"].append(
            {"id": "out", "type": "kafka_sink", "config": {"connection": "local", "topic": "o"}}
        )
        graph["edges"].append({"from": "s0", "to": "out"})
    return graph


def _add(graph: dict[str, Any], draw: st.DrawFn, id_: str, type_: str, config: Any) -> None:
    ports = STEP_TYPES[type_].inputs
    givers = [s for s in graph["steps"] if s["type"] not in ("kafka_sink", "console_sink")]
    edges = []
    for port in ports:
        for _ in range(draw(st.integers(1, 2)) if port.many else 1):
            giver = draw(st.sampled_from(givers))
            edge = {"from": giver["id"], "to": id_}
            if len(ports) > 1:
                edge["port"] = port.name
            if giver["type"] == "branch":
                edge["output"] = draw(st.sampled_from(["some", "otherwise"]))
            edges.append(edge)
    tried = copy.deepcopy(graph)
    tried["steps"].append({"id": id_, "type": type_, "config": config})
    tried["edges"] += edges
    try:
        errors = check(read_graph(tried), CONNECTIONS).errors
    except InvalidGraph:
        return
    if not any(problem.step is not None for problem in errors):
        graph.update(tried)


def _analyzed(graph: Any) -> None:
    """Have Spark analyze every step of the planned graph, and each query as such."""
    read = read_graph(graph)
    planned = plan(read, check(read, CONNECTIONS).rows)
    space: dict[str, Any] = {"spark": warm_session(), "F": F}
    space["CONNECTIONS"] = {"local": {"kafka.bootstrap.servers": "127.0.0.1:9"}}
    exec(PRELUDE, space)
    jvm: Any = warm_session()._jvm
    checker = jvm.org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
    modes = jvm.org.apache.spark.sql.streaming.OutputMode
    waiting = statements(planned, CONNECTIONS)
    while waiting:
        left = []
        for id_, code in waiting:
            try:
                exec(code, space)
                space[id_].schema  # noqa: B018
            except NameError:
                # It receives what a step gives that comes later.
                left.append((id_, code))
        assert len(left) < len(waiting), left
        waiting = left
    for segment in planned.segments:
        mode = modes.Append() if segment.appends else modes.Update()
        end = segment.sinks[0] if segment.shape == "query" else segment.trunk
        checker.checkForStreaming(space[end]._jdf.queryExecution().analyzed(), mode)


SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@settings(max_examples=40, deadline=None, suppress_health_check=SLOW)
@given(graph=sound_graphs())
def test_spark_takes_what_headrace_takes(graph: Any) -> None:
    # What needs a Kafka and has none: the one thing that only the plan can tell.
    problems = _problems(graph)
    assert all("there is no Kafka" in problem.message for problem in problems)
    if not problems:
        _analyzed(graph)


@settings(max_examples=20, deadline=None, suppress_health_check=SLOW)
@given(graph=sound_graphs())
def test_what_headrace_takes_runs(graph: Any) -> None:
    if not _problems(graph):
        done = rehearse(read_graph(graph), _rows(graph), CONNECTIONS, seconds=60)
        errors = [problem for problem in done.problems if problem.severity == "error"]
        # A column may have been given values that another step can't read as numbers.
        assert [problem for problem in errors if "try_cast" not in problem.message] == []


def _rows(graph: Any) -> dict[str, list[dict[str, Any]]]:
    """Some rows for each source: nulls, bad times, deletions, in three batches."""
    given = {}
    for step in graph["steps"]:
        if step["type"] in ("kafka_source", "kafka_table", "lookup_table"):
            given[step["id"]] = rows = [
                {
                    "_batch": n // 3, "_key": f"k{n % 3}", "a": ["x", None, "xz"][n % 3],
                    "b": [1, 5, None, 7][n % 4], "c": [1.5, None][n % 2],
                    "at": [f"2026-01-01T10:{n * 7:02}:00Z", None][n // 3 % 2],
                    "many": [["p", None], [], None][n * 2 % 3],
                }
                for n in range(8)
            ]  # fmt: skip
            if step["type"] != "kafka_source":
                rows[4] = {"_batch": 1, "_key": "k1", "_deleted": True}
    return given


@settings(max_examples=40, deadline=None, suppress_health_check=SLOW)
@given(graph=sound_graphs())
def test_columns_that_a_step_does_not_name_make_no_difference(graph: Any) -> None:
    read = read_graph(graph)
    few = analyze(read, CONNECTIONS)
    assert few == whole(lambda: analyze(read, CONNECTIONS))


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.text(max_size=8), st.just([]), st.just({}),
    st.sampled_from(["1 year", "b +", "nothing", "${x}", "count(*)", "'; --", "_offset", "stream"]),
)  # fmt: skip


@settings(max_examples=200, deadline=None, suppress_health_check=SLOW)
@given(graph=sound_graphs(), data=st.data())
def test_whatever_is_drawn_is_taken_or_refused_in_words(graph: Any, data: st.DataObject) -> None:
    # What graphs are drawn of must not be spoiled with one of them.
    graph = copy.deepcopy(graph)
    for _ in range(data.draw(st.integers(1, 3))):
        _spoil(graph, data)
    for problem in _problems(graph):
        assert problem.message.strip()
        assert problem.message[-1] in ".?!"


def _problems(graph: Any) -> list[Problem]:
    """Why a graph does not compile; none where it does."""
    try:
        compile_job(read_graph(graph), name="any", connections=CONNECTIONS)
    except InvalidGraph as error:
        return error.problems
    return []


def _spoil(graph: Any, data: st.DataObject) -> None:
    """Change one thing anywhere in a graph."""
    places: list[tuple[Any, Any]] = []

    def visit(value: Any) -> None:
        keys = value.keys() if isinstance(value, dict) else range(len(value))
        for key in list(keys):
            places.append((value, key))
            if isinstance(value[key], dict | list):
                visit(value[key])

    visit(graph)
    holder, key = data.draw(st.sampled_from(places))
    if data.draw(st.booleans()):
        holder[key] = data.draw(JUNK)
    else:
        del holder[key]
