"""Spark's own word on a graph: the columns each step gives, and what it can't make sense of."""

import hashlib
import logging
import os
import re
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from runner import sql
from runner.check import Connections, check
from runner.compile import CONF, PRELUDE, statements
from runner.graph import Graph, Step
from runner.jars import spark_jars
from runner.plan import Plan
from runner.problems import Problem
from runner.spark_errors import Cause, causes, judge, sentence
from runner.step_type import Sink

_SESSION = {
    "spark.master": "local[2]",
    "spark.app.name": "headrace-analyze",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    # A mistake in a draft is no event of this process.
    "spark.log.level": "FATAL",
}
# Fields that hold an expression, for errors that don't say which text they mean.
_EXPRESSIONS = ("condition", "expression", "topic_expression")
# What Spark calls a name that it does not like.
_NAMES = ("objectName", "functionName", "routineName", "fieldName")
_REMEMBERED = 2_000


@dataclass
class Analysis:
    """`steps` has the columns, `[{"name", "type"}]`, of each step that Spark understands."""

    problems: list[Problem] = field(default_factory=list)
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Known:
    """What a statement came to: its DataFrame with its columns, or Spark's objection."""

    rows: DataFrame | None = None
    columns: tuple[tuple[str, str], ...] = ()
    objection: tuple[Cause, ...] = ()


_known: OrderedDict[str, _Known] = OrderedDict()
_session: SparkSession | None = None
_java: "subprocess.Popen[bytes] | None" = None


def warm_session() -> SparkSession:
    """The session of this process, made at the first call (some seconds) and again if it died."""
    global _session, _java
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
    _session = SparkSession(SparkContext.getOrCreate(conf))
    _java = SparkContext._gateway.proc if SparkContext._gateway else None
    return _session


def analyze(graph: Graph, connections: Connections) -> Analysis:
    """Ask Spark for the columns of each sound step, in order; nothing is read and nothing runs.

    A step that Spark objects to has a problem, with the field at fault where that is known;
    what lies below it is left out without one. A step is asked about once for as long as it
    and all above it stay the same.
    """
    namespace: dict[str, Any] = {"spark": warm_session(), "F": F}
    exec(compile(PRELUDE, "<prelude>", "exec"), namespace)  # noqa: S102
    namespace["CONNECTIONS"] = {
        name: {"kafka.bootstrap.servers": c.get("bootstrap_servers", "")}
        for name, c in connections.items()
    }
    analysis = Analysis()
    code: dict[str, str] = {}
    broken: set[str] = set()
    drawn = Plan(graph, check(graph, connections).rows)
    for id_, statement in statements(drawn, connections):
        code[id_] = statement
        above = graph.upstream(id_)
        if above & broken or not above <= code.keys():
            broken.add(id_)
            continue
        known = _asked(
            [code[s.id] for s in graph.in_order if s.id in above], id_, statement, namespace
        )
        step = graph.by_id[id_]
        if known.rows is None:
            broken.add(id_)
            analysis.problems.append(_problem(step, known.objection))
        elif not issubclass(step.step_type, Sink):
            namespace[id_] = known.rows
            columns = [{"name": name, "type": type_} for name, type_ in known.columns]
            analysis.steps[id_] = {"columns": columns}
    return analysis


def _asked(above: list[str], id_: str, statement: str, namespace: dict[str, Any]) -> _Known:
    key = hashlib.sha256("\0".join([*above, statement]).encode()).hexdigest()
    known = _known.pop(key, None)
    if known is None:
        known = _ask(id_, statement, namespace)
    _known[key] = known
    if len(_known) > _REMEMBERED:
        _known.popitem(last=False)
    return known


def _ask(id_: str, statement: str, namespace: dict[str, Any]) -> _Known:
    try:
        # The compiler wrote it: what people type stands in it only as quoted text.
        exec(compile(statement, f"<{id_}>", "exec"), namespace)  # noqa: S102
        rows: DataFrame = namespace[id_]
        columns = tuple((f.name, f.dataType.simpleString()) for f in rows.schema.fields)
    except AnalysisException as error:
        return _Known(objection=tuple(causes(error)))
    return _Known(rows, columns)


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
    SparkSession._instantiatedSession = None
    SparkContext._active_spark_context = None
    SparkContext._gateway = None
    SparkContext._jvm = None
