"""Write a graph as the source of one PySpark program."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from textwrap import dedent, indent
from typing import Any

from ruff.__main__ import find_ruff_bin  # type: ignore[import-untyped]

from runner.check import Connections, check, flowing, inputs_of
from runner.graph import Graph, Step
from runner.kafka_login import is_secured, options_key
from runner.plan import AskedMode, Plan, Segment, between, plan, waves
from runner.problems import InvalidGraph
from runner.rows import DELETED, HEADERS, Rows
from runner.slots import SHUFFLED
from runner.step_type import Foldable, Sink, StepType, state_operator
from runner.steps import python_map, python_processor
from runner.steps.console_sink import ConsoleSink
from runner.steps.internal_topic import INTERNAL, FromTopic, Shown, ToTopic
from runner.steps.kafka_records import KafkaRecords
from runner.steps.kafka_sink import NO_KEY, KafkaSink, columns_of
from runner.steps.kafka_source import KafkaSource
from runner.steps.lookup_table import LookupTable

# What every session needs, whoever makes it: the program itself, its host, the warm session.
CONF = {
    # Expressions can neither read the environment nor files.
    "spark.sql.variable.substitute": "false",
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.session.timeZone": "UTC",
    # State operators take times as instants. The default, java.sql.Timestamp, changes each from one
    # calendar to another and back, a twentieth of a joined row's way.
    "spark.sql.datetime.java8API.enabled": "true",
    "spark.sql.shuffle.partitions": str(SHUFFLED),
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
    # A shuffled row of real-time mode leaves once it fills a buffer: any row fills this one. By
    # default it waits up to 50 ms for others. The memory is then that of some 100,000 rows.
    "spark.shuffle.streaming.networkBufferSize": "16",
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "100",
    "spark.shuffle.streaming.writerMaxMemory": "2097152",
    "spark.executor.heartbeatInterval": "1s",
}

# The columns that Spark's Kafka sink reads.
_RECORD = {
    "topic": "string",
    "key": "string",
    "value": "string",
    "partition": "int",
    "headers": "array<struct<key:string,value:binary>>",
}


@dataclass(frozen=True)
class Job:
    """A pipeline as a program, and what must be there for it to run.

    `topics` are the topics it reads and writes, each with its connection, step and use:
    `read`, `write`, `dead_letters`, `console`, `internal` (from one segment to another, of `kind`
    table or stream) or `received` (its other end); `conf` is Spark's, before the session starts.
    """

    name: str
    script: str
    plan: Plan = field(compare=False)
    topics: tuple[dict[str, str], ...]
    conf: Mapping[str, str]

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The streaming queries of the program, in the order in which they start."""
        return self.plan.segments


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
    checked = check(graph, connections, headers=graph.names(HEADERS))
    if checked.errors:
        raise InvalidGraph(checked.errors)
    planned = plan(graph, checked.rows, mode)
    if planned.problems:
        raise InvalidGraph(list(planned.problems))
    program = Program(name, planned, connections, start, checkpoint_interval)
    body = "".join(program.body())
    source = f"{program.header()}{body}\nspark.streams.awaitAnyTermination()\n"
    return Job(name, _formatted(source), planned, tuple(program.topics()), CONF)


def statements(
    planned: Plan, connections: Connections, given: Mapping[str, str] | None = None
) -> list[tuple[str, str]]:
    """The source of each sound step's DataFrame, a sink's records too, each after all it reads.

    Run in order in one namespace with `spark`, `F`, `CONNECTIONS` and what `PRELUDE` defines,
    they bind each step's DataFrame to its id. What is not sound, and what lies below it, is left
    out. `given` is, by step, the source of a DataFrame to read in place of a topic, with the
    columns that Kafka's records have.
    """
    program = Program("analyze", planned, connections, given=given)
    return [
        (step.id, "".join(program.statement(step, observed=False)))
        for step in program.graph.in_order
        if step.id in program.rows
    ]


# What calls a state operator: the one thing a program needs that PySpark does not have.
_STATE_OPERATOR = '''

def state_operator(name, *inputs, **options):
    """The rows of one of the state operators in headrace-operators.jar."""
    java = getattr(spark._jvm.headrace, name)
    rows = java.apply([given._jdf for given in inputs], json.dumps(options))
    return DataFrame(rows, spark)


'''
_PYTHON_IMPORTS = """
from datetime import UTC, datetime
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor
"""
# All that statements may call.
PRELUDE = (
    f"import json\nfrom pyspark.sql import DataFrame\n{_PYTHON_IMPORTS}{_STATE_OPERATOR}"
    f"{python_map.PRELUDE}{python_processor.PRELUDE}"
)


class Program:
    """The parts of one program, in the order in which they are written."""

    def __init__(
        self,
        name: str,
        planned: Plan,
        connections: Connections,
        start: Any = None,
        checkpoint_interval: str = "2 minutes",
        given: Mapping[str, str] | None = None,
    ) -> None:
        self.graph = planned.graph
        self.name = name
        self.plan = planned
        self.connections = connections
        self.start = start
        self.checkpoint_interval = checkpoint_interval
        self.given = given or {}
        self.rows = {id_: replace(known, variable=id_) for id_, known in planned.rows.items()}
        # What the body turns out to call.
        self.operators = False
        self.preludes: dict[str, None] = {}

    def header(self) -> str:
        about = "\n".join(
            f"{s.id}: {s.mode.replace('_', '-')}. {_plain(s.reason)}" for s in self.plan.segments
        )
        settings = "\n".join(f".config({k!r}, {v!r})" for k, v in CONF.items())
        used = sorted(
            {getattr(s.parsed, "connection", None) or "" for s in self.graph.steps} - {""}
        )
        secured = [name for name in used if is_secured(self.connections[name])]
        clusters = "".join(f"{name!r}: {self._cluster(name)}," for name in used)
        default = f"checkpoints/{self.name}"
        imports, helpers = "from pyspark.sql import SparkSession, functions as F\n", ""
        if self.operators:
            imports = "from pyspark.sql import DataFrame, SparkSession, functions as F\n"
            helpers = _STATE_OPERATOR
        processors = python_processor.PRELUDE in self.preludes
        if self.operators or processors or secured:
            imports = f"import json\n{imports}"
        if processors:
            imports += _PYTHON_IMPORTS
        helpers += "".join(self.preludes)
        checkpoints = f"CHECKPOINTS = spark.conf.get('spark.headrace.checkpoints', {default!r})\n"
        if self.operators:
            about += (
                "\n\nIts state operators are in headrace-operators.jar, which Headrace serves;\n"
                "give it to spark-submit by --jars, beside Spark's connector to Kafka."
            )
        if secured:
            about += (
                f"\n\nHow to log in to {', '.join(secured)} stands in no program: give Spark's\n"
                "options for it, as JSON, in spark.headrace.connection.<name>.options."
            )
        return (
            f'"""{self.name}, drawn in Headrace.\n\n{about}\n"""\n'
            f"{imports}\n"
            f"spark = (\nSparkSession.builder.appName({self.name!r})\n{settings}\n"
            ".getOrCreate()\n)\n"
            f"{checkpoints}CONNECTIONS = {{{clusters}}}\n{helpers}"
        )

    def _cluster(self, name: str) -> str:
        """The source of a connection's options, which Spark's configuration may change."""
        key = f"spark.headrace.connection.{name}"
        servers = self.connections[name].get("bootstrap_servers", "")
        more = ""
        if is_secured(self.connections[name]):
            more = f", **json.loads(spark.conf.get({options_key(name)!r}))"
        return f"{{'kafka.bootstrap.servers': spark.conf.get({key!r}, {servers!r}){more}}}"

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
        if any(segment.loads for segment in self.plan.segments):
            yield from self._loaded()

    def statement(self, step: Step, *, observed: bool = True) -> Iterator[str]:
        """A step's DataFrame, bound to its id, counted under it."""
        config = step.parsed
        observe = _observed(step.id) if observed and step.type not in INTERNAL else ""
        if config is None:
            return
        if preamble := config.preamble(step.id):
            self.preludes[config.prelude] = None
            yield f"\n\n{preamble}\n"
        yield _comment(step)
        if isinstance(config, KafkaSource):
            headers = HEADERS in self.rows[step.id].names
            records = config.emit_records(
                self.start,
                fetch_at_once=self._in_batches(step),
                headers=headers,
                read=self.given.get(step.id, ""),
            )
            rows = config.emit_rows(step.id, records.strip(), headers=headers)
            yield _bound(step.id, dedent(rows).strip() + observe)
        elif isinstance(config, FromTopic):
            yield self._received(step, config)
        else:
            code = dedent(self._emitted(step, config, observed=observed)).strip()
            self.operators |= "state_operator(" in code
            yield _bound(step.id, code + observe)

    def _emitted(self, step: Step, config: StepType, *, observed: bool) -> str:
        """The source of a step's DataFrame; of a sink, that of its records."""
        inputs = inputs_of(self.graph, step, self.rows) or {}
        if isinstance(config, ToTopic):
            return self._records(step.id, inputs["rows"])
        if isinstance(config, LookupTable):
            return config.emit(read=self.given.get(step.id, ""))
        if config.state(**inputs) is not None:
            inputs = {port: _remembered(rows) for port, rows in inputs.items()}
        if observed and (closes := config.closes_at()):
            inputs = {port: _with_ends(rows, step.id, closes) for port, rows in inputs.items()}
        more = {"step": step.id} if config.prelude else {}
        return config.emit(**inputs, **more)

    def _received(self, step: Step, config: FromTopic) -> str:
        topic = config.topic_of(self.name)
        fetch = ".option('kafka.fetch.max.wait.ms', 10)" if self._in_batches(step) else ""
        records = (
            self.given.get(step.id)
            or f"""
            spark.readStream.format("kafka")
            .options(**CONNECTIONS[{config.connection!r}])
            .option('subscribe', {topic!r})
            .option('startingOffsets', 'earliest')
            .option('includeHeaders', True)
            {fetch}
            .load()
        """
        )
        ends = [(s.id, s.parsed) for s in self.graph.steps if isinstance(s.parsed, ToTopic)]
        (sent,) = (id_ for id_, end in ends if end.came == config.came)
        rows = self.into(sent)
        return _bound(
            step.id, dedent(config.emit_rows(rows, f"{config.of}.schema", records.strip()))
        )

    def _loaded(self) -> Iterator[str]:
        """The start of segments that first take in what their topics hold."""
        segments = [s for s in self.plan.segments if s.loads]
        yield (
            "\n# What the topics hold is taken in first, in one batch: tables are whole, and what\n"
            "# a crash left undone comes in no other order.\n"
        )
        for wave in waves(self.graph, segments):
            started = [f"{self._writer(s)}.trigger(availableNow=True).start()" for s in wave]
            if len(started) == 1:
                yield f"{started[0]}.awaitTermination()\n"
            else:
                yield f"for loading in [{', '.join(started)}]:\n    loading.awaitTermination()\n"
        yield "spark.streams.resetTerminated()\n"
        for segment in segments:
            yield f"{self._writer(segment)}{self._trigger(segment).strip()}.start()\n"

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
            if isinstance(config, ToTopic):
                about = {"connection": config.connection, "step": config.of, "use": "internal"}
                yield {
                    **about,
                    "topic": config.topic_of(self.name),
                    "kind": self.rows[step.id].kind,
                }
            if isinstance(config, FromTopic):
                about = {"connection": config.connection, "step": step.id, "use": "received"}
                yield {**about, "topic": config.topic_of(self.name)}
            if isinstance(config, KafkaSource) and config.has_dead_letters:
                topic = self._internal(step.id, "dead-letters")
                about = {"connection": config.connection, "step": step.id}
                yield {**about, "use": "dead_letters", "topic": topic}
            if isinstance(config, KafkaSink) and config.topic:
                about = {"connection": config.connection, "step": step.id, "use": "write"}
                yield {**about, "topic": config.topic}
            if isinstance(config, ConsoleSink) and segment.shape != "batch" and segment.connection:
                shown = self._shown(step.id)
                about = {"connection": segment.connection, "step": shown, "use": "console"}
                yield {**about, "topic": self._internal(shown, "console")}

    def _query(self, segment: Segment) -> Iterator[str]:
        (sink,) = segment.sinks
        step = self.graph.by_id[sink]
        yield _comment(step)
        records = self._records(sink, self.into(sink))
        observe = "" if step.type in INTERNAL else _observed(sink)
        bound = self._writer(segment) if segment.loads else sink
        yield _bound(bound, records + observe + self._started(segment))

    def _folded(self, segment: Segment) -> Iterator[str]:
        """Each sink's records as a column, null where it gets none; then one query for all."""
        known = self.folded(segment)
        counts = [(id_, rows) for id_, rows in known.items() if id_ != segment.trunk]
        records = {s: self.record(s, self.arriving(s, known)) for s in segment.sinks}
        parts = {name for record in records.values() for name in record}
        for sent in (s for s in segment.sinks if self.graph.by_id[s].type == "to_topic"):
            # Who receives them asks these steps for their columns.
            for id_ in between(self.graph, segment.trunk, (sent,)):
                yield from self.statement(self.graph.by_id[id_], observed=False)
        for sink in segment.sinks:
            rows = self.arriving(sink, known)
            if self.graph.by_id[sink].type not in INTERNAL:
                counts.append((sink, rows))
            # All have the same parts, since they become one column.
            record = {
                name: records[sink].get(name, f"F.lit(None).cast({type_!r})")
                for name, type_ in _RECORD.items()
                if name in parts
            }
            struct = f"F.struct({columns_of(record)})"
            yield _comment(self.graph.by_id[sink])
            yield _bound(
                sink, f"F.when(F.expr({rows.condition!r}), {struct})" if rows.condition else struct
            )
        observed = "".join(
            f"\n.observe({id_!r}, F.count_if(F.expr({rows.condition!r})).alias('rows'))"
            if rows.condition
            else _observed(id_)
            for id_, rows in counts
        )
        each = f"F.explode(F.array_compact(F.array({', '.join(segment.sinks)})))"
        bound = f"{self._writer(segment)} = " if segment.loads else ""
        yield (
            f"\n# One query writes {', '.join(segment.sinks)}, so that its rows are read once.\n"
            f"{bound}(\n{segment.trunk}{observed}\n.select({each}.alias('record'))"
            f".select('record.*'){self._started(segment)}\n)\n"
        )

    def folded(self, segment: Segment) -> dict[str, Rows]:
        """The rows of a segment's trunk and of the steps behind it, all over the trunk's columns.

        Those steps are Foldable.
        """
        known = {segment.trunk: replace(self.rows[segment.trunk], folded=True)}
        for id_ in between(self.graph, segment.trunk, segment.sinks):
            config = self.graph.by_id[id_].parsed
            assert isinstance(config, Foldable)
            known[id_] = config.fold(self.arriving(id_, known))
        return known

    def _batch(self, segment: Segment) -> Iterator[str]:
        """A function that writes each batch to every sink, over rows that are read once."""
        # A limit alone would read, and so count, only a part of the batch.
        lines = [f"{segment.trunk} = batch.persist()\n{segment.trunk}.count()\n"]
        for id_ in between(self.graph, segment.trunk, segment.sinks):
            lines += self.statement(self.graph.by_id[id_], observed=False)
            lines.append(_count(id_, id_))
        for sink in segment.sinks:
            rows = self.into(sink)
            config = self.graph.by_id[sink].parsed
            lines.append(_comment(self.graph.by_id[sink]))
            if isinstance(config, ConsoleSink):
                begin = f'{{"step": "{self._shown(sink)}", "row": '
                line = f"F.concat(F.lit({begin!r}), {config.row(rows)}, F.lit('}}'))"
                lines.append(
                    f"for (line,) in {rows}.select({line}).limit({config.rows}).collect():\n"
                    "    print(line)\n"
                )
            else:
                lines.append(
                    f'{self._records(sink, rows)}.write.format("kafka")'
                    f".options(**CONNECTIONS[{getattr(config, 'connection', '')!r}]).save()\n"
                )
            if self.graph.by_id[sink].type not in INTERNAL:
                lines.append(_count(sink, str(rows)))
        lines.append(f"{segment.trunk}.unpersist()\n")
        function = f"write_{segment.trunk}"
        bound = f"{self._writer(segment)} = " if segment.loads else ""
        yield (
            f"\n\ndef {function}(batch, batch_id):\n"
            "    # The batch is read once, whole, and kept while every sink reads it.\n"
            f"{indent(''.join(lines), '    ')}\n\n"
            f"{bound}(\n{segment.trunk}.writeStream.foreachBatch({function})"
            f"{self._options(segment)}\n)\n"
        )

    def _dead_letters(self, segment: Segment) -> Iterator[str]:
        config = self.graph.by_id[segment.trunk].parsed
        assert isinstance(config, KafkaSource)
        topic = self._internal(segment.trunk, "dead-letters")
        # A letter keeps the headers of its record, which the rows may have no use for.
        records = config.emit_records(self.start, fetch_at_once=False, headers=True)
        letters = config.emit_dead_letters(segment.trunk, records.strip(), topic)
        dropped = f"\n.observe({segment.trunk!r}, F.count('*').alias('dropped'))"
        yield (
            f"\n# Records of {segment.trunk} that can't be read.\n"
            f"(\n{dedent(letters).strip()}{dropped}{self._started(segment)}\n)\n"
        )

    def record(self, sink: str, rows: Rows) -> dict[str, str]:
        """The parts of each record of a sink by name, as the Python source of columns."""
        config = self.graph.by_id[sink].parsed
        if isinstance(config, KafkaSink):
            record = config.record(rows)
            if config.topic_expression:
                # Kafka's own words would name neither the step nor the expression.
                none = f"step {sink}: A row has no topic, its expression is null. Use coalesce."
                record["topic"] = f"F.coalesce({record['topic']}, F.raise_error({none!r}))"
            return record
        if isinstance(config, ToTopic):
            return config.record(rows, config.topic_of(self.name))
        assert isinstance(config, ConsoleSink)
        return {
            "topic": f"F.lit({self._internal(self._shown(sink), 'console')!r})",
            "key": NO_KEY,
            "value": config.row(rows),
        }

    def _records(self, sink: str, rows: Rows) -> str:
        """The source of the DataFrame of a sink's records."""
        return f"{rows}.select({columns_of(self.record(sink, rows))})"

    def _started(self, segment: Segment) -> str:
        linger = "\n.option('kafka.linger.ms', 0)" if segment.mode == "real_time" else ""
        return (
            "\n.writeStream.format('kafka')"
            f"\n.options(**CONNECTIONS[{segment.connection!r}]){linger}{self._options(segment)}"
        )

    def _options(self, segment: Segment) -> str:
        start = "" if segment.loads else f"{self._trigger(segment)}\n.start()"
        mode = "append" if segment.appends else "update"
        return (
            f"\n.option('checkpointLocation', CHECKPOINTS + {'/' + segment.checkpoint!r})"
            f"\n.queryName({segment.id!r})\n.outputMode({mode!r}){start}"
        )

    def _trigger(self, segment: Segment) -> str:
        if segment.mode == "real_time":
            return f"\n.trigger(realTime={self.checkpoint_interval!r})"
        if segment.shape == "dead_letters":
            return "\n.trigger(processingTime='1 second')"
        if segment.loads:
            return "\n.trigger(processingTime='0 seconds')"
        return ""

    def _writer(self, segment: Segment) -> str:
        """What the writer of a segment that is started twice is called."""
        name = f"write_{segment.id}"
        while name in self.graph.by_id:
            name += "_"
        return name

    def _shown(self, sink: str) -> str:
        """The step whose rows a console shows: another one's, where the plan added it."""
        config = self.graph.by_id[sink].parsed
        return config.of if isinstance(config, Shown) else sink

    def into(self, sink: str) -> Rows:
        """The rows that arrive at a sink."""
        return self.arriving(sink, self.rows)

    def arriving(self, step: str, known: Mapping[str, Rows]) -> Rows:
        """The rows that arrive at a step of one input, of all that are known."""
        rows = flowing(self.graph, self.graph.edges_into[step][0], known)
        assert rows is not None
        return rows

    def _in_batches(self, step: Step) -> bool:
        """Whether no real-time segment reads this source: only then does a fetch hold up others."""
        return all(s.mode == "micro_batch" for s in self.plan.segments if step.id in s.steps)

    def _internal(self, step: str, use: str) -> str:
        return f"headrace.{self.name}.{step}.{use}"


def _remembered(rows: Rows) -> Rows:
    """Rows on their way into a state: neither deletions of a stream nor repeats count there."""
    if rows.kind != "stream":
        return rows
    if rows.has_deletions:
        rows = replace(rows, variable=f"{rows}.where({'NOT ' + DELETED!r})")
    if rows.repeats and rows.version is not None:
        lane = list(rows.lane)
        if not lane:
            lane = ["_lane"]
            rows = replace(rows, variable=f"{rows}.withColumn('_lane', F.lit('all'))")
        code = state_operator("DropRepeats", rows, key=[], lane=lane, version=[rows.version])
        rows = replace(rows, variable=code)
    return rows


def _with_ends(rows: Rows, step: str, closes: str) -> Rows:
    """Rows observed by when their windows end: Spark counts those that come too late only after it
    has brought rows of one group together. With more windows in a batch the figure is a guess."""
    ends = f"F.expr({f'approx_top_k({closes}, 1000)'!r}).alias('ends')"
    return replace(rows, variable=f"{rows}.observe({step + '.windows'!r}, {ends})")


def _bound(name: str, code: str) -> str:
    return f"{name} = (\n{dedent(code).strip()}\n)\n"


def _observed(step: str) -> str:
    return f"\n.observe({step!r}, F.count('*').alias('rows'))"


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
