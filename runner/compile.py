"""Write a graph as the source of one PySpark program."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from textwrap import dedent, indent
from typing import Any

from ruff.__main__ import find_ruff_bin  # type: ignore[import-untyped]

from runner.check import Connections, check, flowing, inputs_of
from runner.graph import Graph, Step
from runner.plan import AskedMode, Plan, Segment, between, plan
from runner.problems import InvalidGraph
from runner.rows import Rows
from runner.step_type import Foldable, Sink
from runner.steps.console_sink import ConsoleSink
from runner.steps.kafka_records import KafkaRecords
from runner.steps.kafka_sink import KafkaSink
from runner.steps.kafka_source import KafkaSource

# What every session needs, whoever makes it: the program itself, its host, the warm session.
CONF = {
    # Expressions can neither read the environment nor files.
    "spark.sql.variable.substitute": "false",
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    # State that serves real-time and micro-batch mode alike.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    # The default forks a shell for every file of a local checkpoint.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    # The default lets each shuffled row of real-time mode wait 50 ms.
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "1",
    "spark.executor.heartbeatInterval": "1s",
}

_NO_HEADERS = "F.lit(None).cast('array<struct<key:string,value:binary>>').alias('headers')"


@dataclass(frozen=True)
class Job:
    """A pipeline as a program, and what must be there for it to run.

    `topics` are the topics it reads and writes, each with its connection, step and use:
    `read`, `write`, `dead_letters` or `console`; `conf` is Spark's, before the session starts.
    """

    script: str
    segments: tuple[Segment, ...]
    topics: tuple[dict[str, str], ...]
    conf: Mapping[str, str]


def compile_job(
    graph: Graph,
    *,
    name: str,
    connections: Connections,
    mode: AskedMode = "auto",
    start: Any = None,
    checkpoint_interval: str = "2 minutes",
) -> Job:
    """Turn a graph into a PySpark program, one statement per step, in the user's names.

    `name` (small letters, digits, dashes) names the pipeline's topics and checkpoints; `start`
    overrules where its sources begin; `checkpoint_interval` is the length of a real-time batch.
    Raises InvalidGraph with every problem, so that the canvas can show them all at once.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,99}", name):
        raise ValueError(f"{name!r} can't name a job")
    checked = check(graph, connections)
    if checked.errors:
        raise InvalidGraph(checked.errors)
    planned = plan(graph, mode)
    if planned.problems:
        raise InvalidGraph(list(planned.problems))
    program = _Program(graph, checked.rows, name, planned, connections, start, checkpoint_interval)
    source = program.header() + "".join(program.body()) + "\nspark.streams.awaitAnyTermination()\n"
    return Job(_formatted(source), planned.segments, tuple(program.topics()), CONF)


def statements(graph: Graph, connections: Connections) -> list[tuple[str, str]]:
    """The source of each sound step's DataFrame, a sink's records too, each after all it reads.

    Run in order in one namespace with `spark`, `F` and `CONNECTIONS`, they bind each step's
    DataFrame to its id. What is not sound, and what lies below it, is left out.
    """
    rows = check(graph, connections).rows
    program = _Program(graph, rows, "analyze", Plan(), connections, None, "2 minutes")
    return [
        (step.id, "".join(program.statement(step, observed=False)))
        for step in graph.in_order
        if step.id in program.rows
    ]


class _Program:
    """The parts of one program, in the order in which they are written."""

    def __init__(
        self,
        graph: Graph,
        rows: Mapping[str, Rows],
        name: str,
        planned: Plan,
        connections: Connections,
        start: Any,
        checkpoint_interval: str,
    ) -> None:
        self.graph = graph
        self.name = name
        self.plan = planned
        self.connections = connections
        self.start = start
        self.checkpoint_interval = checkpoint_interval
        self.rows = {id_: replace(given, variable=id_) for id_, given in rows.items()}

    def header(self) -> str:
        about = "\n".join(
            f"{s.id}: {s.mode.replace('_', '-')}. {_plain(s.reason)}" for s in self.plan.segments
        )
        settings = "\n".join(f".config({k!r}, {v!r})" for k, v in CONF.items())
        used = sorted(
            {getattr(s.parsed, "connection", None) or "" for s in self.graph.steps} - {""}
        )
        clusters = "".join(
            f"{name!r}: {{'kafka.bootstrap.servers': spark.conf.get("
            f"{'spark.headrace.connection.' + name!r}, "
            f"{self.connections[name].get('bootstrap_servers', '')!r})}},"
            for name in used
        )
        default = f"checkpoints/{self.name}"
        checkpoints = f"CHECKPOINTS = spark.conf.get('spark.headrace.checkpoints', {default!r})\n"
        return (
            f'"""{self.name}, drawn in Headrace.\n\n{about}\n"""\n'
            "from pyspark.sql import SparkSession, functions as F\n\n"
            f"spark = (\nSparkSession.builder.appName({self.name!r})\n{settings}\n"
            ".getOrCreate()\n)\n"
            f"{checkpoints}CONNECTIONS = {{{clusters}}}\n"
        )

    def body(self) -> Iterator[str]:
        written: set[str] = set()
        for segment in self.plan.segments:
            inside = set()
            if segment.shape in ("folded", "batch"):
                inside = set(between(self.graph, segment.trunk, segment.sinks))
            for id_ in segment.steps:
                step = self.graph.by_id[id_]
                if id_ in written or id_ in inside or issubclass(step.step_type, Sink):
                    continue
                written.add(id_)
                yield from self.statement(step)
            yield from getattr(self, f"_{segment.shape}")(segment)

    def statement(self, step: Step, *, observed: bool = True) -> Iterator[str]:
        """A step's DataFrame, bound to its id, counted under it."""
        config, observe = step.parsed, _observed(step.id) if observed else ""
        yield _comment(step)
        if isinstance(config, KafkaSource):
            records = config.emit_records(self.start, fetch_at_once=self._in_batches(step))
            if config.has_dead_letters:
                yield _bound(self._records_of(step.id), records)
                records = self._records_of(step.id)
            yield _bound(
                step.id, dedent(config.emit_rows(step.id, records.strip())).strip() + observe
            )
        elif config is not None:
            inputs = inputs_of(self.graph, step, self.rows)
            yield _bound(step.id, dedent(config.emit(**(inputs or {}))).strip() + observe)

    def topics(self) -> Iterator[dict[str, str]]:
        for step in self.graph.in_order:
            segment, config = self.plan.segment_of(step.id), step.parsed
            if segment is None:
                continue
            if isinstance(config, KafkaRecords):
                about = {"connection": config.connection, "step": step.id, "use": "read"}
                if config.topic_pattern:
                    yield {**about, "pattern": config.topic_pattern}
                for topic in config.topics:
                    yield {**about, "topic": topic}
            if isinstance(config, KafkaSource) and config.has_dead_letters:
                topic = self._internal(step.id, "dead-letters")
                about = {"connection": config.connection, "step": step.id}
                yield {**about, "use": "dead_letters", "topic": topic}
            if isinstance(config, KafkaSink) and config.topic:
                about = {"connection": config.connection, "step": step.id, "use": "write"}
                yield {**about, "topic": config.topic}
            if isinstance(config, ConsoleSink) and segment.shape != "batch" and segment.connection:
                about = {"connection": segment.connection, "step": step.id, "use": "console"}
                yield {**about, "topic": self._internal(step.id, "console")}

    def _query(self, segment: Segment) -> Iterator[str]:
        (sink,) = segment.sinks
        step = self.graph.by_id[sink]
        yield _comment(step)
        records = f"{self._into(sink)}.select({', '.join(self._record(sink, self._into(sink)))})"
        yield _bound(sink, records + _observed(sink) + self._started(segment))

    def _folded(self, segment: Segment) -> Iterator[str]:
        """Each sink's records as a column, null where it gets none; then one query for all."""
        known = {segment.trunk: replace(self.rows[segment.trunk], folded=True)}
        counts = []
        for id_ in between(self.graph, segment.trunk, segment.sinks):
            config = self.graph.by_id[id_].parsed
            assert isinstance(config, Foldable)
            known[id_] = config.fold(self._arriving(id_, known))
            counts.append((id_, known[id_]))
        headers = any(
            isinstance(c, KafkaSink) and c.headers
            for c in (self.graph.by_id[s].parsed for s in segment.sinks)
        )
        for sink in segment.sinks:
            rows = self._arriving(sink, known)
            counts.append((sink, rows))
            record = self._record(sink, rows)
            if headers and len(record) == 3:
                record.append(_NO_HEADERS)
            struct = f"F.struct({', '.join(record)})"
            yield _comment(self.graph.by_id[sink])
            yield _bound(sink, f"F.when({_all(rows)}, {struct})" if rows.conditions else struct)
        observed = "".join(
            f"\n.observe({id_!r}, F.count_if({_all(rows)}).alias('rows'))"
            if rows.conditions
            else _observed(id_)
            for id_, rows in counts
        )
        each = f"F.explode(F.array_compact(F.array({', '.join(segment.sinks)})))"
        yield (
            f"\n# One query writes {', '.join(segment.sinks)}, so that its rows are read once.\n"
            f"(\n{segment.trunk}{observed}\n.select({each}.alias('record'))"
            f".select('record.*'){self._started(segment)}\n)\n"
        )

    def _batch(self, segment: Segment) -> Iterator[str]:
        """A function that writes each batch to every sink, over rows that are read once."""
        # A limit alone would read, and so count, only a part of the batch.
        lines = [f"{segment.trunk} = batch.persist()\n{segment.trunk}.count()\n"]
        for id_ in between(self.graph, segment.trunk, segment.sinks):
            lines += self.statement(self.graph.by_id[id_], observed=False)
            lines.append(_count(id_, id_))
        for sink in segment.sinks:
            rows = self._into(sink)
            config = self.graph.by_id[sink].parsed
            lines.append(_comment(self.graph.by_id[sink]))
            if isinstance(config, ConsoleSink):
                begin = f'{{"step": "{sink}", "row": '
                line = f"F.concat(F.lit({begin!r}), {config.row(rows)}, F.lit('}}'))"
                lines.append(
                    f"for (line,) in {rows}.select({line}).limit({config.rows}).collect():\n"
                    "    print(line)\n"
                )
            elif isinstance(config, KafkaSink):
                records = f"{rows}.select({', '.join(config.record(rows))})"
                lines.append(
                    f'{records}.write.format("kafka")'
                    f".options(**CONNECTIONS[{config.connection!r}]).save()\n"
                )
            lines.append(_count(sink, str(rows)))
        lines.append(f"{segment.trunk}.unpersist()\n")
        function = f"write_{segment.trunk}"
        yield (
            f"\n\ndef {function}(batch, batch_id):\n"
            "    # The batch is read once, whole, and kept while every sink reads it.\n"
            f"{indent(''.join(lines), '    ')}\n\n"
            f"(\n{segment.trunk}.writeStream.foreachBatch({function})"
            f"{self._options(segment)}\n)\n"
        )

    def _dead_letters(self, segment: Segment) -> Iterator[str]:
        config = self.graph.by_id[segment.trunk].parsed
        assert isinstance(config, KafkaSource)
        topic = self._internal(segment.trunk, "dead-letters")
        letters = config.emit_dead_letters(segment.trunk, self._records_of(segment.trunk), topic)
        dropped = f"\n.observe({segment.trunk!r}, F.count('*').alias('dropped'))"
        yield (
            f"\n# Records of {segment.trunk} that can't be read.\n"
            f"(\n{dedent(letters).strip()}{dropped}{self._started(segment)}\n)\n"
        )

    def _record(self, sink: str, rows: Rows) -> list[str]:
        config = self.graph.by_id[sink].parsed
        if isinstance(config, KafkaSink):
            return config.record(rows)
        assert isinstance(config, ConsoleSink)
        return [
            f"F.lit({self._internal(sink, 'console')!r}).alias('topic')",
            "F.lit(None).cast('string').alias('key')",
            f"{config.row(rows)}.alias('value')",
        ]

    def _started(self, segment: Segment) -> str:
        linger = "\n.option('kafka.linger.ms', 0)" if segment.mode == "real_time" else ""
        return (
            "\n.writeStream.format('kafka')"
            f"\n.options(**CONNECTIONS[{segment.connection!r}]){linger}{self._options(segment)}"
        )

    def _options(self, segment: Segment) -> str:
        trigger = ""
        if segment.mode == "real_time":
            trigger = f"\n.trigger(realTime={self.checkpoint_interval!r})"
        elif segment.shape == "dead_letters":
            trigger = "\n.trigger(processingTime='1 second')"
        return (
            f"\n.option('checkpointLocation', CHECKPOINTS + {'/' + segment.checkpoint!r})"
            f"\n.queryName({segment.id!r})\n.outputMode('update'){trigger}\n.start()"
        )

    def _into(self, sink: str) -> Rows:
        return self._arriving(sink, self.rows)

    def _arriving(self, step: str, known: Mapping[str, Rows]) -> Rows:
        rows = flowing(self.graph, self.graph.edges_into[step][0], known)
        assert rows is not None
        return rows

    def _in_batches(self, step: Step) -> bool:
        """Whether no real-time segment reads this source: only then does a fetch hold up others."""
        return all(s.mode == "micro_batch" for s in self.plan.segments if step.id in s.steps)

    def _records_of(self, source: str) -> str:
        name = f"{source}_records"
        while name in self.graph.by_id:
            name += "_"
        return name

    def _internal(self, step: str, use: str) -> str:
        return f"headrace.{self.name}.{step}.{use}"


def _bound(name: str, code: str) -> str:
    return f"{name} = (\n{dedent(code).strip()}\n)\n"


def _observed(step: str) -> str:
    return f"\n.observe({step!r}, F.count('*').alias('rows'))"


def _all(rows: Rows) -> str:
    conditions = rows.conditions
    if len(conditions) > 1:
        conditions = tuple(f"({condition})" for condition in conditions)
    return f"F.expr({' AND '.join(conditions)!r})"


def _count(step: str, rows: str) -> str:
    begin = f'{{"step": "{step}", "rows": '
    return f"print({begin!r} + str({rows}.count()) + '}}')\n"


def _comment(step: Step) -> str:
    return f"\n# {_plain(step.label)}\n" if step.label else "\n"


def _plain(text: str) -> str:
    """A text that can't end a comment or a docstring."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return shown.replace("\\", "/").replace('"', "'")


def _formatted(source: str) -> str:
    command = [find_ruff_bin(), "format", "--isolated", "--line-length", "100", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"the generated program is no Python: {done.stderr}\n{source}")
    return done.stdout
