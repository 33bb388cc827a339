"""Spark's own word on a graph: the columns each step gives, and what it can't make sense of."""

import hashlib
import json
import logging
import os
import re
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.errors import AnalysisException
from pyspark.errors import utils as origins
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField

from runner import class_archive, sql
from runner.check import Connections, check
from runner.compile import CONF, PRELUDE, statements
from runner.graph import Graph, Step
from runner.jars import spark_jars
from runner.java_names import JavaNames
from runner.plan import Plan
from runner.problems import Problem
from runner.spark_errors import Cause, causes, judge, sentence
from runner.step_type import Sink

_SESSION = {
    "spark.master": "local[2]",
    "spark.app.name": "headrace-analyze",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Nobody looks at Spark's own pages, for which it would keep what it did of a thousand batches.
    "spark.ui.retainedJobs": "1",
    "spark.ui.retainedStages": "1",
    "spark.ui.retainedTasks": "1",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.sql.streaming.ui.enabled": "false",
    "spark.ui.liveUpdate.period": "-1",
    "spark.driver.host": "127.0.0.1",
    # A mistake in a draft is no event of this process.
    "spark.log.level": "FATAL",
}
# Fields that hold an expression, for errors that don't say which text they mean.
_EXPRESSIONS = ("condition", "expression", "topic_expression")
# What Spark calls a name that it does not like.
_NAMES = ("objectName", "functionName", "routineName", "fieldName")
_REMEMBERED = 2_000
# What an edit asks is short: compiling it well would take longer than it does. But it is compiled
# soon, since the first edits should not take several times as long as the hundredth.
_FOR_EDITS = (
    "-XX:TieredStopAtLevel=1 -XX:Tier3InvocationThreshold=20 -XX:Tier3MinInvocationThreshold=10 "
    "-XX:Tier3CompileThreshold=200 -XX:Tier3BackEdgeThreshold=6000 "
    # Else Java throws away, for want of room, what it then compiles again.
    "-XX:ReservedCodeCacheSize=240m"
)
# Rehearsals, many and long, are worth all the compiling that Java can do, but only of what they do
# again and again: by Java's own measure it took a quarter of the time of the hundredth, still. And
# what they leave behind is gone in larger portions.
FOR_REHEARSALS = (
    "-XX:Tier4InvocationThreshold=60000 -XX:Tier4MinInvocationThreshold=6000 "
    "-XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000 -Xmn400m"
)
# With two cores and little to collect, a collector beside the work only takes from it.
_ALWAYS = "-XX:+UseSerialGC"
_PRELUDE = compile(PRELUDE, "<prelude>", "exec")


@dataclass
class Analysis:
    """`steps` has the columns, `[{"name", "type"}]`, of each step that Spark understands."""

    problems: list[Problem] = field(default_factory=list)
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Column:
    """A column as Spark tells it: `text` is all that Spark knows of it, as JSON."""

    name: str
    type: str
    text: str

    def is_named(self, statement: str) -> bool:
        """Whether a statement, in small letters, may mean this column: never falsely not."""
        plain = self.name.isascii() and self.name.isidentifier()
        return not plain or self.name.lower() in statement


_Columns = tuple[_Column, ...]


@dataclass(frozen=True)
class _Known:
    """What a statement came to: the columns of its rows, or Spark's objection."""

    columns: _Columns = ()
    objection: tuple[Cause, ...] = ()


_known: OrderedDict[str, _Known] = OrderedDict()
_session: SparkSession | None = None
_compiling = _FOR_EDITS
_java: "subprocess.Popen[bytes] | None" = None


def warm_session(*, compiling: str | None = None, archive: str | None = None) -> SparkSession:
    """The session of this process, made at the first call (some seconds) and again if it died.

    How its Java compiles is as edits need it, unless `compiling` says otherwise, then and from
    then on; `archive` are the options of another class archive than that of `make install`.
    """
    global _session, _java, _compiling
    if compiling is not None:
        _compiling = compiling
    if _session is not None and _java is not None and _java.poll() is None:
        return _session
    if _java is not None:
        _forget_session()
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        # They write each mistake of a draft, with its stack, as an error of ours.
        logging.getLogger(name).disabled = True
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    # Else Spark finds another Python.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    conf = SparkConf().setAll([*CONF.items(), *_SESSION.items()])
    conf.set("spark.jars", ",".join(map(str, spark_jars())))
    options = (_ALWAYS, _compiling, archive or class_archive.java_options())
    conf.set("spark.driver.extraJavaOptions", " ".join(options).strip())
    context = SparkContext.getOrCreate(conf)
    SparkContext._jvm = JavaNames.of(SparkContext._jvm)
    # Hadoop's thousand defaults, which stand in its code, too, would be copied for each state.
    context._jsc.hadoopConfiguration().clear()
    _session = SparkSession(context)
    _java = SparkContext._gateway.proc if SparkContext._gateway else None
    return _session


def practise(graphs: Sequence[Graph]) -> None:
    """Analyze graphs that people may begin with, so that theirs need not wait for Java.

    The first time takes Java to load its classes, the second to compile them.
    """
    for _ in range(2):
        _known.clear()
        for graph in graphs:
            named = (getattr(step.parsed, "connection", None) for step in graph.steps)
            analyze(graph, {name: {} for name in named if name})


def analyze(graph: Graph, connections: Connections) -> Analysis:
    """Ask Spark for the columns of each sound step, in order; nothing is read and nothing runs.

    A step that Spark objects to has a problem, with the field at fault where that is known;
    what lies below it is left out without one. A step is asked about once for as long as it
    and the columns that flow into it stay the same: each is tried on rows of these columns
    alone, so that it takes no longer the more lies above it.
    """
    namespace: dict[str, Any] = {"spark": warm_session(), "F": F}
    exec(_PRELUDE, namespace)  # noqa: S102
    namespace["CONNECTIONS"] = {
        name: {"kafka.bootstrap.servers": c.get("bootstrap_servers", "")}
        for name, c in connections.items()
    }
    analysis = Analysis()
    given: dict[str, _Columns] = {}
    drawn = Plan(graph, check(graph, connections).rows)
    for id_, statement in statements(drawn, connections):
        inputs = {edge.from_ for edge in graph.edges_into.get(id_, ())}
        if not inputs <= given.keys():
            continue
        step = graph.by_id[id_]
        taken = {name: given[name] for name in sorted(inputs)}
        known = _tried(step, statement, taken, namespace)
        if known.objection:
            analysis.problems.append(_problem(step, known.objection))
        elif not issubclass(step.step_type, Sink):
            given[id_] = known.columns
            columns = [{"name": c.name, "type": c.type} for c in known.columns]
            analysis.steps[id_] = {"columns": columns}
    return analysis


def _tried(
    step: Step, statement: str, inputs: Mapping[str, _Columns], namespace: dict[str, Any]
) -> _Known:
    """What a step's statement comes to, of no more columns than it needs to be tried on."""
    if step.parsed is None or not step.parsed.passes_columns():
        return _asked(step.id, statement, inputs, namespace)
    ((name, columns),) = inputs.items()
    text = statement.lower()
    named = tuple(column for column in columns if column.is_named(text))
    known = _asked(step.id, statement, {name: named}, namespace)
    if known.objection:
        return known
    # What it named comes first, in its order; at those places a column may be another now.
    tried = iter(known.columns)
    passed = [next(tried) if column in named else column for column in columns]
    return _Known((*passed, *tried))


def _asked(
    id_: str, statement: str, inputs: Mapping[str, _Columns], namespace: dict[str, Any]
) -> _Known:
    texts = [statement]
    texts += [f"{name}={','.join(c.text for c in columns)}" for name, columns in inputs.items()]
    key = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    known = _known.pop(key, None)
    if known is None:
        known = _ask(id_, statement, inputs, namespace)
    _known[key] = known
    if len(_known) > _REMEMBERED:
        _known.popitem(last=False)
    return known


def _ask(
    id_: str, statement: str, inputs: Mapping[str, _Columns], namespace: dict[str, Any]
) -> _Known:
    for name, columns in inputs.items():
        namespace[name] = _nothing(name, ",".join(column.text for column in columns))
    try:
        # The compiler wrote it: what people type stands in it only as quoted text.
        with _no_call_sites():
            exec(compile(statement, f"<{id_}>", "exec"), namespace)  # noqa: S102
        rows: DataFrame = namespace[id_]
        told = json.loads(rows._jdf.schema().json())["fields"]
    except AnalysisException as error:
        return _Known(objection=tuple(causes(error)))
    return _Known(tuple(_column(json.dumps(field)) for field in told))


@lru_cache(_REMEMBERED)
def _column(text: str) -> _Column:
    field = StructField.fromJson(json.loads(text))
    return _Column(field.name, field.dataType.simpleString(), text)


@lru_cache(_REMEMBERED)
def _nothing(step: str, fields: str) -> DataFrame:
    """No rows of a step's type; each step's are its own, since joins tell them apart by that."""
    spark = warm_session()
    java: Any = spark._jsparkSession
    type_ = java.parseDataType(f'{{"type":"struct","fields":[{fields}]}}')
    nothing = getattr(spark._jvm, "java.util.ArrayList")()
    return DataFrame(java.createDataFrame(nothing, type_), spark)


@contextmanager
def _no_call_sites() -> Iterator[None]:
    """Keep PySpark from telling Java, at each call, from which line it comes: nobody reads it."""
    before = origins._enable_debugging_cache
    origins._enable_debugging_cache = False  # type: ignore[assignment]
    try:
        yield
    finally:
        origins._enable_debugging_cache = before


def _problem(step: Step, objection: tuple[Cause, ...]) -> Problem:
    cause = next((c for c in reversed(objection) if c.condition), objection[0])
    message = sentence(cause) if cause.condition else judge(objection, "", ()).message
    return Problem(step.id, _field_at_fault(step, cause), message)


def _field_at_fault(step: Step, cause: Cause) -> str | None:
    texts = dict(_texts(step.config))
    for fragment in cause.fragments:
        found = [path for path, text in texts.items() if fragment in _regenerated(path, text)]
        if len(found) == 1:
            return found[0]
    for parameter in _NAMES:
        name = (cause.parameters or {}).get(parameter, "").strip("`")
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        found = [path for path, text in texts.items() if name and word.search(text)]
        if len(found) == 1:
            return found[0]
    found = [path for path in texts if path.rpartition(".")[2] in _EXPRESSIONS]
    return found[0] if len(found) == 1 else None


def _texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a configuration, with its path: `columns.0.expression`."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _texts(part, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from _texts(part, f"{path}.{i}")


def _regenerated(path: str, text: str) -> str:
    if path.rpartition(".")[2] not in _EXPRESSIONS:
        return ""
    try:
        return sql.regenerate(text)
    except sql.NotAllowed:
        return ""


def _forget_session() -> None:
    """Let go of a Java process that died, so that a new one can be had."""
    _known.clear()
    _nothing.cache_clear()
    SparkSession._instantiatedSession = None
    SparkContext._active_spark_context = None
    SparkContext._gateway = None
    SparkContext._jvm = None
