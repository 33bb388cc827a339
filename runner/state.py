"""What a table of a running pipeline holds: rows by key, from its checkpoint and its topics."""

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from runner import sql
from runner.analyze import warm_session
from runner.asked_key import WINDOW, NoSuchKey, asked_key
from runner.check import Connections
from runner.compile import PRELUDE, Program
from runner.graph import Step
from runner.kafka_login import client_options, spark_options
from runner.plan import Plan
from runner.rows import ARRIVED, DELETED, Rows
from runner.step_type import state_operator
from runner.steps.internal_topic import FromTopic
from runner.steps.kafka_source import KafkaSource
from runner.steps.kafka_table import KafkaTable
from runner.steps.to_table import ToTable
from runner.tables import Carrier, Table, carrier, is_sql, operators, side_of, table_of

Row = dict[str, Any]

MOST_ROWS = 1_000
# What all rows of an answer may take as text; a row may hold a list of millions.
MOST_CHARACTERS = 4_000_000
# How many records of a topic are read for one answer.
MOST_RECORDS = 3_000_000
# How far the clocks of Kafka and of whoever writes checkpoints may be apart.
CLOCKS_APART_MS = 10_000
# A job may have gone on, and forgotten a batch, while that was read.
TRIES = 3
KAFKA_SECONDS = 4

_RECORD = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
    "headers array<struct<key:string,value:binary>>"
)
_PRELUDE = compile(PRELUDE, "<prelude>", "exec")
_WHOLE = {"ignoreNullFields": "false"}
# The text of a record's key, beside the columns of its row.
_KEY = "__headrace_key"
_OPERATOR = state_operator.__name__
_FAILED = (PySparkException, Py4JError)


@dataclass(frozen=True)
class Question:
    """Which rows of a step's table: of a key, of keys that begin so, of windows that start so.

    `key` is the plain value of a key of one column, or a JSON object of some of its columns.
    `live` takes in what a real-time segment has written since its last checkpoint.
    """

    step: str
    key: str | None = None
    prefix: str | None = None
    begin: datetime | None = None
    end: datetime | None = None
    limit: int = 100
    live: bool = True


@dataclass
class Answer:
    """Rows of a table, and how fresh they are.

    `source` is `checkpoint`, where all is as of the end of a batch, or `topic`, where newer rows
    came from there; `as_of` is the time up to which they are complete.
    """

    columns: list[dict[str, str]]
    key: list[str]
    rows: list[Row] = field(default_factory=list)
    more: bool = False
    source: str = "checkpoint"
    as_of: datetime | None = None
    batch: int | None = None
    committed_at: datetime | None = None
    note: str = ""


class Unanswerable(Exception):
    """The question can't be answered as it was asked; the message says why and what to do."""


class TookTooLong(Exception):
    """The answer did not come in time."""


def state(
    planned: Plan,
    connections: Connections,
    question: Question,
    *,
    name: str,
    checkpoints: Path,
    seconds: float = 10,
) -> Answer:
    """Answer a question about a table of the pipeline `name`, whether its job runs or not.

    `checkpoints` is the folder of the deployment's checkpoints, of which only copies are read.
    Raises Unanswerable, and TookTooLong after `seconds`.
    """
    table = table_of(planned, question.step, name)
    for left in reversed(range(TRIES)):
        asked = _Asked(planned, connections, name, checkpoints, table, question)
        try:
            with _within(asked.spark, seconds):
                return asked.answer()
        except _FAILED:
            if not left or not asked.has_gone_on():
                raise
    raise AssertionError


class _Asked:
    """One question on its way to an answer: what was read, and where it is from."""

    def __init__(
        self,
        planned: Plan,
        connections: Connections,
        name: str,
        checkpoints: Path,
        table: Table,
        question: Question,
    ) -> None:
        self.plan = planned
        self.graph = planned.graph
        self.name = name
        self.table = table
        self.connections = connections
        self.question = question
        self.live = question.live and table.real_time
        self.spark: SparkSession = warm_session().newSession()
        segment = table.segment
        self.checkpoint = checkpoints / segment.checkpoint if segment else None
        self.batch = _newest(self.checkpoint)
        self.committed_at = _committed_at(self.checkpoint, self.batch)
        self.from_topic = False
        self.notes: list[str] = []
        sources = (s.id for s in self.graph.steps if isinstance(s.parsed, KafkaSource | FromTopic))
        self.program = Program(name, planned, connections, given=dict.fromkeys(sources, "RECORDS"))
        self.space: dict[str, Any] = {"spark": self.spark, "F": F}
        exec(_PRELUDE, self.space)  # noqa: S102
        self.space["CONNECTIONS"] = {n: self._options(c) for n, c in connections.items()}
        self.space["RECORDS"] = self.spark.createDataFrame([], _RECORD)
        self.empties: dict[str, DataFrame] = {}
        # Read once, however often an answer needs them.
        self.kept: list[DataFrame] = []

    def has_gone_on(self) -> bool:
        return _newest(self.checkpoint) != self.batch

    def answer(self) -> Answer:
        question, known = self.question, self.plan.rows[self.question.step]
        types = {f.name: f.dataType.simpleString() for f in self._empty(question.step).schema}
        key = list(known.key)
        self.condition = partial(_condition, question, key, types)
        rows = _there(self._table(question.step)).where(self.condition())
        order = [F.col(f"{WINDOW}.start").desc()] if WINDOW in key else []
        order += [F.col(sql.quoted(n)) for n in key if n != WINDOW]
        if order:
            rows = rows.orderBy(*order)
        shown = [n for n in key if n.startswith("_")] + list(known.value_names)
        row = F.struct(*(F.col(sql.quoted(n)) for n in shown))
        texts = rows.select(F.to_json(row, _WHOLE)).limit(question.limit + 1)
        try:
            found = [text for (text,) in texts.collect()]
        finally:
            for frame in self.kept:
                frame.unpersist()
        kept = list(_bounded(found[: question.limit]))
        if len(kept) < min(len(found), question.limit):
            self.notes.append("The rows are long, so fewer than were asked for are told.")
        return Answer(
            columns=[{"name": n, "type": types[n]} for n in shown],
            key=key,
            rows=[json.loads(text) for text in kept],
            more=len(found) > len(kept),
            source="topic" if self.from_topic else "checkpoint",
            as_of=datetime.now(UTC) if self.from_topic else self.committed_at,
            batch=self.batch,
            committed_at=self.committed_at,
            note=" ".join(dict.fromkeys(self._notes(known))),
        )

    def _table(self, id_: str) -> DataFrame:
        """The rows of a table, some of which may say that they are deleted."""
        step = self.graph.by_id[id_]
        config = step.parsed
        if id_ == self.table.root:
            rows = self._root(step)
        elif isinstance(config, FromTopic):
            rows = self._table(config.of)
        else:
            rows = self._run(step, self._inputs(step))
        rows = self._shaped(rows, id_)
        if not self.live:
            return rows
        if found := carrier(self.plan, id_, self.name):
            return self._with_newer(rows, step, found)
        if id_ == self.table.root and isinstance(config, KafkaTable):
            return self._with_newer(rows, step, None)
        return rows

    def _inputs(self, step: Step) -> dict[str, DataFrame]:
        """The tables and lookup tables that a step is made of, by the names of their steps."""
        above = {edge.from_ for edge in self.graph.edges_into.get(step.id, ())}
        return {
            id_: self._empty(id_) if self.plan.rows[id_].kind == "lookup" else self._table(id_)
            for id_ in above
        }

    def _root(self, step: Step) -> DataFrame:
        kept = self.table.kept
        if kept == "state":
            return self._remembered(step)
        if kept == "side":
            return self._side(step)
        if kept == "topic":
            found = carrier(self.plan, step.id, self.name)
            assert found is not None
            self._bounded_read(found.connection, [found.topic])
            return _there(self._newest_of_topic(step, found, None))
        if kept == "sources":
            return _there(self._read_again(step, None))
        raise Unanswerable(
            f"Nothing keeps the rows of {step.title}: they are passed on, and what they come from "
            "is not in a topic. Write this table to a Kafka topic as it is, or ask another."
        )

    # --- state

    def _remembered(self, step: Step) -> DataFrame:
        """What the step itself has in its state."""
        if self.batch is None:
            return self._none(self._empty(step.id).schema)
        inputs, about = self._empty_inputs(step), self._about(step.id)
        if not is_sql(self.plan, step.id):
            return self._run(step, inputs, partial(_from_state, self.spark, about))
        rows, state = self._run(step, inputs), _state(self.spark, about)
        if step.id == self.question.step:
            state = state.where(self.condition("key."))
        java = self.spark._jvm.headrace.Remembered.aggregate(rows._jdf, state._jdf)  # type: ignore[union-attr]
        return DataFrame(java, self.spark)

    def _side(self, step: Step) -> DataFrame:
        """What a join remembers of the rows that flow into it from here."""
        side = side_of(self.plan, step.id)
        assert side is not None
        seen: dict[str, Any] = {}
        join = self.graph.by_id[side.join]
        self._run(join, self._empty_inputs(join), partial(_noting, seen, self.space[_OPERATOR]))
        left, right = seen["inputs"]
        kept = left if side.port == "left" else right
        if self.batch is None:
            return self._none(kept.schema)
        variable, of = "newest", "value"
        if seen["name"] == "JoinTables":
            variable, of = "sides", "value.c0" if side.port == "left" else "value.c1"
        rows = _state(self.spark, self._about(side.join), variable)
        rows = rows.select(_as(F.col(of), kept, "row"))
        return rows.where(F.col("row").isNotNull()).select("row.*")

    def _about(self, step: str) -> dict[str, Any]:
        """Where the state of a step is."""
        segment = self.plan.segment_of(step)
        assert segment is not None
        place = operators(self.plan, segment).index(step)
        path = str(self.checkpoint)
        return {"state": {"path": path, "operator": place, "batch": self.batch}}

    # --- topics

    def _with_newer(self, rows: DataFrame, step: Step, found: Carrier | None) -> DataFrame:
        """The rows, with what has been written since the last commit.

        It is in the topic that carries them; without one in those that the table is read from.
        """
        since = _milliseconds(self.committed_at)
        config = step.parsed
        topics = [found.topic] if found else getattr(config, "topics", [])
        connection = found.connection if found else getattr(config, "connection", "")
        try:
            written = self._written(connection, topics, since)
        except KafkaException:
            self.notes.append("Kafka does not answer, so what came since is not told.")
            return rows
        if written is None:
            return rows
        if written > MOST_RECORDS:
            self.notes.append(
                f"Since then {written:,} records were written to {', '.join(topics)}, too many "
                "to read for an answer; they are not told."
            )
            return rows
        if found:
            newer, key = self._newest_of_topic(step, found, since), self._key_text(found)
        else:
            key = F.to_json(F.struct(*self._key_of(step.id)))
            newer = self._read_again(step, since).withColumn(_KEY, key)
        if step.id == self.question.step:
            newer = newer.where(self.condition())
        newer = newer.persist()
        self.kept.append(newer)
        self.from_topic = True
        changed = newer.select(F.col(_KEY).alias("changed"))
        same = F.col(_KEY).eqNullSafe(F.col("changed"))
        unchanged = rows.withColumn(_KEY, key).join(changed, same, "left_anti").drop(_KEY)
        return unchanged.unionByName(self._shaped(_there(newer), step.id))

    def _key_text(self, found: Carrier) -> Column:
        """What a record's key is, of a row that is written to a topic."""
        source = self.program.record(found.sink, self.program.into(found.sink))["key"]
        key: Column = eval(source, {"F": F})  # noqa: S307
        return key

    def _key_of(self, step: str) -> list[Column]:
        return [F.col(sql.quoted(name)) for name in self.plan.rows[step].key]

    def _newest_of_topic(self, step: Step, found: Carrier, since: int | None) -> DataFrame:
        """The newest record of each key, since a time in milliseconds, as a row of a step."""
        self.from_topic = True
        records = self._records(found.connection, "subscribe", found.topic, since)
        newest = F.max_by(
            F.struct(
                F.col("key").cast("string").alias(_KEY),
                F.col("value").cast("string").alias("value"),
            ),
            F.struct("timestamp", "offset"),
        )
        rows = records.groupBy(F.col("key").alias("of")).agg(newest.alias("newest"))
        like = self._empty(step.id).schema
        return _read_back(rows.select("newest.*"), self.plan.rows[step.id], like)

    def _read_again(self, step: Step, since: int | None) -> DataFrame:
        """The newest row of each key in what the topics hold that a table is read from."""
        above = [self.graph.by_id[id_] for id_ in self.graph.upstream(step.id)] + [step]
        given: dict[str, str] = {}
        space = dict(self.space)
        for source in above:
            config = source.parsed
            if isinstance(config, KafkaSource):
                if since is None:
                    self._bounded_read(config.connection, config.topics)
                option, topics = config.subscription()
                given[source.id] = f"RECORDS_{source.id}"
                space[given[source.id]] = self._records(config.connection, option, topics, since)
        self.from_topic = True
        if isinstance(step.parsed, ToTable):
            self.notes.append("These are the rows that the topics before it still hold.")
        program = Program(self.name, self.plan, self.connections, given=given)
        for one in (s for s in self.graph.in_order if s in above):
            exec(_compiled(program, one), space)  # noqa: S102
        rows: DataFrame = space[step.id]
        newest = F.max_by(F.struct("*"), F.struct(ARRIVED, "_partition", "_offset"))
        keys = [key.alias(f"of{i}") for i, key in enumerate(self._key_of(step.id))]
        return rows.groupBy(*keys).agg(newest.alias("newest")).select("newest.*")

    def _bounded_read(self, connection: str, topics: list[str]) -> None:
        """Raise Unanswerable where there is too much to read, or nobody who gives it."""
        try:
            written = self._written(connection, topics, None) or 0
        except KafkaException:
            raise Unanswerable(
                f"The rows are in Kafka only, and {connection} does not answer; try again."
            ) from None
        if written > MOST_RECORDS:
            raise Unanswerable(
                f"The rows are in {', '.join(topics)} only, which hold {written:,} records: too "
                "many to read for an answer. Ask a table that is remembered, as by a join."
            )

    def _records(self, connection: str, option: str, topics: str, since: int | None) -> DataFrame:
        reader = self.spark.read.format("kafka").options(**self.space["CONNECTIONS"][connection])
        reader = reader.option(option, topics).option("includeHeaders", True)
        reader = reader.option("failOnDataLoss", False)
        if since is not None:
            reader = reader.option("startingTimestamp", since)
            reader = reader.option("startingOffsetsByTimestampStrategy", "latest")
        return reader.load()

    def _written(self, connection: str, topics: list[str], since: int | None) -> int | None:
        """How many records topics were given since a time, None where one is not there."""
        settings = client_options(self.connections[connection])
        consumer = Consumer({**settings, "group.id": "headrace-state", "log_level": 0})
        try:
            known = consumer.list_topics(timeout=KAFKA_SECONDS).topics
            if not all(topic in known for topic in topics):
                return None
            parts = [TopicPartition(t, p) for t in topics for p in known[t].partitions]
            count = 0
            begins = {}
            if since is not None:
                asked = [TopicPartition(p.topic, p.partition, since) for p in parts]
                found = consumer.offsets_for_times(asked, timeout=KAFKA_SECONDS)
                begins = {(p.topic, p.partition): p.offset for p in found}
            for part in parts:
                low, high = consumer.get_watermark_offsets(part, timeout=KAFKA_SECONDS)
                begin = begins.get((part.topic, part.partition), low)
                count += max(0, high - begin) if begin >= 0 else 0
            return count
        finally:
            consumer.close()

    # --- frames

    def _empty(self, id_: str) -> DataFrame:
        """No rows of a step; of a lookup table its rows, read where they are needed."""
        if id_ not in self.empties:
            step = self.graph.by_id[id_]
            self.empties[id_] = self._run(step, self._empty_inputs(step))
        return self.empties[id_]

    def _empty_inputs(self, step: Step) -> dict[str, DataFrame]:
        inputs = {e.from_: self._empty(e.from_) for e in self.graph.edges_into.get(step.id, ())}
        if isinstance(step.parsed, FromTopic):
            # What comes by a topic has the columns of what went into it.
            inputs[step.parsed.of] = self._empty(step.parsed.of)
        return inputs

    def _run(self, step: Step, inputs: Mapping[str, DataFrame], operator: Any = None) -> DataFrame:
        space = {**self.space, **inputs}
        if operator is not None:
            space[_OPERATOR] = operator
        exec(_compiled(self.program, step), space)  # noqa: S102
        rows: DataFrame = space[step.id]
        return rows

    def _shaped(self, rows: DataFrame, step: str) -> DataFrame:
        """The rows with exactly the columns that the program gives a step."""
        there = set(rows.columns)
        return rows.select(
            *(
                (F.col(sql.quoted(f.name)) if f.name in there else F.lit(None))
                .cast(f.dataType)
                .alias(f.name)
                for f in self._empty(step).schema
            )
        )

    def _none(self, like: StructType) -> DataFrame:
        self.notes.append("Nothing is committed yet.")
        return self.spark.createDataFrame([], like)

    def _options(self, connection: Mapping[str, Any]) -> dict[str, str]:
        servers = str(connection.get("bootstrap_servers", ""))
        return {"kafka.bootstrap.servers": servers, **spark_options(connection)}

    def _notes(self, known: Rows) -> Iterator[str]:
        yield from self.notes
        if WINDOW in known.key and self.table.kept == "state":
            yield "Windows that have closed are forgotten; the topic they are written to has them."
        if self.live and not self.table.live:
            yield (
                "It runs in real time and commits every two minutes, and no topic carries this "
                "table as it is, so what came since is not told."
            )


def _condition(
    question: Question, key: list[str], types: Mapping[str, str], within: str = ""
) -> Column:
    """What the rows that are asked for have in common, of key columns that stand within another.

    Raises Unanswerable.
    """
    try:
        asked = asked_key(question.key, question.prefix, key, types)
    except NoSuchKey as wrong:
        raise Unanswerable(str(wrong)) from None
    found = F.lit(True)
    for path, type_, value in asked.equal:
        column = F.col(within + path)
        found &= column.eqNullSafe(F.lit(value).cast(type_))
    if asked.prefix is not None:
        path, begin = asked.prefix
        found &= F.col(within + path).startswith(F.lit(begin))
    if question.begin is None and question.end is None:
        return found
    if WINDOW not in key:
        raise Unanswerable("This table has no windows; leave from and to out.")
    start = F.col(f"{within}{WINDOW}.start")
    if question.begin is not None:
        found &= start >= F.lit(question.begin.isoformat()).cast("timestamp")
    if question.end is not None:
        found &= start < F.lit(question.end.isoformat()).cast("timestamp")
    return found


def _read_back(records: DataFrame, table: Rows, like: StructType) -> DataFrame:
    """The rows of a table in its records' keys and values, which are text."""
    value = StructType([like[n] for n in like.names if n in (*table.value_names, *table.key)])
    key = StructType([like[n] for n in table.key])
    text = F.col(_KEY)
    if len(key) == 1 and key.names[0] != WINDOW:
        # Plain in a topic that somebody drew, an object in one between segments.
        plain = text.try_cast(key[0].dataType)
        inner = F.from_json(text, key).getField(key.names[0])
        keyed = {key.names[0]: F.coalesce(inner, plain)}
    else:
        keyed = {n: F.from_json(text, key).getField(n) for n in key.names}
    row = F.from_json("value", value)
    columns = [
        F.coalesce(row.getField(n), keyed[n]) if n in keyed else row.getField(n)
        for n in value.names
    ]
    named = [c.alias(n) for c, n in zip(columns, value.names, strict=True)]
    return records.select(*named, F.col("value").isNull().alias(DELETED), _KEY)


def _from_state(
    spark: SparkSession, about: Mapping[str, Any], name: str, *inputs: DataFrame, **options: Any
) -> DataFrame:
    """What a state operator remembers, in place of what it gives."""
    if name == "DropRepeats":
        return inputs[0]
    if name == "JoinTables":
        return _joined(_state(spark, about, "sides"), *inputs, kind=options["kind"])
    java = getattr(spark._jvm.headrace, name)  # type: ignore[union-attr]
    rows = java.apply([given._jdf for given in inputs], json.dumps({**options, **about}))
    return DataFrame(rows, spark)


def _joined(sides: DataFrame, left: DataFrame, right: DataFrame, *, kind: str) -> DataFrame:
    """The joined rows, of the newest row of either side that is there."""
    both = sides.select(
        _as(F.col("value.c0"), left, "left"),
        _as(F.col("value.c1"), right, "right"),
        F.lit(False).alias(DELETED),
        F.col("value.c2").alias("_version"),
    )
    needed = {"inner": ("left", "right"), "left": ("left",), "full": ()}[kind]
    for side in needed:
        both = both.where(F.col(side).isNotNull())
    return both


def _state(spark: SparkSession, about: Mapping[str, Any], variable: str | None = None) -> DataFrame:
    asked = about["state"]
    reader = spark.read.format("statestore").option("operatorId", asked["operator"])
    reader = reader.option("batchId", asked["batch"])
    if variable is not None:
        reader = reader.option("stateVarName", variable)
    return reader.load(asked["path"])


def _as(kept: Column, like: DataFrame, name: str) -> Column:
    """A row as it is kept, its columns numbered, by the names of other rows."""
    type_ = StructType.fromJson(json.loads(like._jdf.schema().asNullable().json()))
    return kept.cast(type_).alias(name)


def _there(rows: DataFrame) -> DataFrame:
    """The rows but those that say that their key is gone."""
    if DELETED not in rows.columns:
        return rows
    return rows.where(~F.coalesce(F.col(DELETED), F.lit(False)))


def _noting(
    seen: dict[str, Any], operator: Any, name: str, *inputs: DataFrame, **options: Any
) -> DataFrame:
    """Note with what a state operator is called."""
    if name != "DropRepeats":
        seen |= {"name": name, "inputs": inputs}
    rows: DataFrame = operator(name, *inputs, **options)
    return rows


def _compiled(program: Program, step: Step) -> Any:
    return compile(dedent("".join(program.statement(step, observed=False))), f"<{step.id}>", "exec")


def _bounded(texts: list[str]) -> Iterator[str]:
    total = 0
    for text in texts:
        total += len(text)
        if total > MOST_CHARACTERS:
            return
        yield text


def _milliseconds(committed_at: datetime | None) -> int | None:
    """From when on records may be newer than what was committed then."""
    if committed_at is None:
        return None
    return int(committed_at.timestamp() * 1000) - CLOCKS_APART_MS


def _newest(checkpoint: Path | None) -> int | None:
    """The newest batch that a checkpoint has whole; None before there is one."""
    try:
        names = [f.name for f in checkpoint.joinpath("commits").iterdir()] if checkpoint else []
    except FileNotFoundError:
        return None
    return max((int(name) for name in names if re.fullmatch(r"\d+", name)), default=None)


def _committed_at(checkpoint: Path | None, batch: int | None) -> datetime | None:
    """When a batch was committed; before there is one, when the checkpoint began."""
    if checkpoint is None:
        return None
    path = checkpoint / "metadata" if batch is None else checkpoint / "commits" / str(batch)
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except FileNotFoundError:
        return None


@contextmanager
def _within(spark: SparkSession, seconds: float) -> Iterator[None]:
    """Cancel what runs inside when time is up. Raises TookTooLong."""
    context, group = spark.sparkContext, f"state-{threading.get_ident()}"
    over = threading.Event()

    def give_up() -> None:
        over.set()
        context.cancelJobGroup(group)

    alarm = threading.Timer(seconds, give_up)
    alarm.daemon = True
    context.setJobGroup(group, "state", True)
    alarm.start()
    try:
        yield
    except _FAILED:
        if over.is_set():
            raise TookTooLong from None
        raise
    finally:
        alarm.cancel()
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
