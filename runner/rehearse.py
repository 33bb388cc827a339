"""Run a graph on given rows, batch by batch, in the warm session; sinks stay untouched."""

import csv
import io
import json
import shutil
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from textwrap import dedent
from traceback import walk_tb
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from runner.analyze import warm_session
from runner.check import Connections, check
from runner.compile import PRELUDE, Program
from runner.graph import Graph, Step
from runner.plan import Plan, Segment, between, can_fold, plan
from runner.problems import InvalidGraph, Problem
from runner.rows import DELETED, Rows
from runner.spark_errors import causes, judge
from runner.step_type import Source
from runner.steps.internal_topic import INTERNAL, FromTopic, Shown, ToTopic
from runner.steps.kafka_records import KafkaRecords
from runner.steps.kafka_sink import KafkaSink
from runner.steps.kafka_source import KafkaSource
from runner.steps.lookup_table import LookupTable
from runner.steps.python_processor import PythonProcessor

Row = dict[str, Any]
Given = Mapping[str, Iterable[Row]]

# How many rows of a step come back; all of them are counted.
MOST_ROWS = 1_000
MOST_GIVEN = 10_000
# Characters of all that is bound to names, where steps are folded into one query.
MOST_FOLDED = 20_000

_PRELUDE = compile(PRELUDE, "<prelude>", "exec")
# By its whole name a class of Java's is found at once; else each part of it is tried as one.
_MEMORY_STREAM = "org.apache.spark.sql.execution.streaming.runtime.MemoryStream"
_GIVEN = "headrace.Given"
_LISTS = "scala.jdk.javaapi.CollectionConverters"
_TOLD = "headrace.Told"
_FOR_FEW_ROWS = {
    "spark.sql.shuffle.partitions": "1",
    # Compiling a plan takes longer than interpreting it.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.subexpressionElimination.enabled": "false",
    # Nobody reads the text that Spark writes of each plan.
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.maxPlanStringLength": "0",
    # Checkpoints that nobody starts from again: written plainly.
    "fs.scratch.impl": "headrace.ScratchFiles",
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    "spark.sql.streaming.stateStore.commitValidation.enabled": "false",
}


@dataclass
class Rehearsal:
    """What came of it: by step `{"rows": […], "count": n}`, dead letters, and what went wrong."""

    steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    dead_letters: list[Row] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def rehearse(
    graph: Graph,
    rows: Given,
    connections: Connections,
    *,
    seconds: float = 60,
    row_seconds: float = 10,
) -> Rehearsal:
    """Run the compiled graph on these rows, by source, and tell the rows of every step.

    A row may carry `_timestamp`, `_key`, `_batch` (those of one batch arrive together, after all
    that came of the one before) and `_deleted`; `{"value": "…"}` for a source of JSON is the raw
    record. Each row that comes out says its `_batch`. Raises InvalidGraph for an unsound graph.
    What goes wrong while it runs is a problem of the step, as is running longer than `seconds`,
    or longer than `row_seconds` in Python for one row.
    """
    checked = check(graph, connections)
    if checked.errors:
        raise InvalidGraph(checked.errors)
    planned = plan(graph, checked.rows, "micro_batch")
    if planned.problems:
        raise InvalidGraph(list(planned.problems))
    given = {id_: list(those) for id_, those in rows.items()}
    trial = _Trial(planned, connections, _records(graph, given), row_seconds)
    trial.problems += _unfitting(graph, given)
    try:
        trial.run(seconds)
    finally:
        trial.end()
    return trial.told()


def too_long(seconds: float) -> Problem:
    """What is said of a rehearsal that did not end by itself."""
    message = f"The rehearsal took longer than {seconds:g} seconds and was ended."
    return Problem(None, None, message)


def _records(graph: Graph, rows: Given) -> list[dict[str, list[Row]]]:
    """Each batch's records as Kafka would have them, by source."""
    batches: dict[int, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    now = datetime.now(UTC)
    problems = []
    total = 0
    for id_, given in rows.items():
        step = graph.by_id.get(id_)
        if step is None or not issubclass(step.step_type, Source):
            there = ", ".join(s.id for s in graph.steps if issubclass(s.step_type, Source))
            message = f"Rows are given for {id_}, which is no source. Sources are: {there}."
            problems.append(Problem(None, "rows", message))
            continue
        for offset, row in enumerate(given):
            total += 1
            try:
                batch = int(row.get("_batch") or 0)
                # The rows of a batch arrive at one moment.
                record = _record(step, row, offset, now + timedelta(milliseconds=batch))
            except (TypeError, ValueError, AttributeError) as error:
                message = f"Row {offset + 1} of {step.title} can't be used: {error}"
                problems.append(Problem(id_, "rows", message))
                continue
            batches[max(batch, 0)][id_].append(record)
    if total > MOST_GIVEN:
        message = f"A rehearsal takes {MOST_GIVEN:,} rows at most; these are {total:,}."
        problems.append(Problem(None, "rows", message))
    if problems:
        raise InvalidGraph(problems)
    last = max(batches, default=0)
    if last > MOST_ROWS:
        message = f"Rows may come in {MOST_ROWS:,} batches at most; number them from 0."
        raise InvalidGraph([Problem(None, "rows", message)])
    return [batches.get(n, {}) for n in range(last + 1)]


def _unfitting(graph: Graph, rows: Mapping[str, list[Row]]) -> Iterator[Problem]:
    """A warning for each source that was given rows of which no column is its own."""
    for id_, given in rows.items():
        step = graph.by_id[id_]
        config = step.parsed
        if not isinstance(config, KafkaRecords) or not config.has_fields:
            continue
        # A row of nothing but a value is the record as it is.
        columns = {"value"} | {column.name for column in config.columns}
        found = ((n, _own(row)) for n, row in enumerate(given, 1))
        wrong = [(n, own) for n, own in found if own and own.keys().isdisjoint(columns)]
        if wrong:
            n, own = wrong[0]
            which = f"Row {n} has" if len(wrong) == 1 else f"{len(wrong)} rows, as row {n}, have"
            has, lacks = ", ".join(own), ", ".join(column.name for column in config.columns)
            message = f"{which} none of the columns of {step.title}, {lacks}; it has {has}."
            yield Problem(id_, "rows", message, "warning")


def _own(row: Row) -> Row:
    """What a row has of its own, without what it says about itself."""
    return {k: v for k, v in row.items() if not k.startswith("_")}


def _written(config: object, own: Row) -> object:
    """The value of a record that is read as this row; a row of nothing but a value is one."""
    if not isinstance(config, KafkaRecords):
        return json.dumps(own)
    names = [column.name for column in config.columns]
    if "value" not in names and (not config.has_fields or own.keys() == {"value"}):
        return own.get("value")
    if config.format == "json":
        return json.dumps(own)
    line = io.StringIO()
    fields = (own.get(name) for name in names)
    csv.writer(line, lineterminator="").writerow(
        json.dumps(field) if isinstance(field, bool) else field for field in fields
    )
    return line.getvalue()


def _record(step: Step, row: Row, offset: int, now: datetime) -> Row:
    own, config = _own(row), step.parsed
    key, value = row.get("_key"), None
    if not row.get(DELETED):
        value = _written(config, own)
    names = getattr(config, "key", None) or []
    if key is None and names and all(n in own for n in names):
        key = str(own[names[0]]) if len(names) == 1 else json.dumps({n: own[n] for n in names})
    given = row.get("_timestamp")
    at = datetime.fromisoformat(str(given)) if given else now
    topics = getattr(config, "topics", None) or [step.id]
    return {
        "source": step.id,
        "key": None if key is None else str(key),
        "value": None if value is None else str(value),
        "topic": topics[0],
        "partition": 0,
        "offset": offset,
        "timestamp": (at if at.tzinfo else at.replace(tzinfo=UTC)).isoformat(),
        "headers": [],
    }


class _Trial:
    """The segments of a plan as queries over rows in memory, run batch by batch."""

    def __init__(
        self,
        planned: Plan,
        connections: Connections,
        batches: list[dict[str, list[Row]]],
        row_seconds: float,
    ) -> None:
        self.plan = planned
        self.graph = planned.graph
        self.connections = connections
        self.batches = batches
        self.row_seconds = row_seconds
        self.rows: dict[str, list[Row]] = defaultdict(list)
        self.counts: dict[str, int] = defaultdict(int)
        self.letters: list[Row] = []
        self.problems: list[Problem] = []
        self.folder = Path(tempfile.mkdtemp(prefix="headrace-rehearsal-"))
        self.spark: SparkSession = warm_session().newSession()
        for name, value in _FOR_FEW_ROWS.items():
            self.spark.conf.set(name, value)
        self.segments: list[_Running] = []
        self.known: dict[str, DataFrame] = {}
        self.error: Exception | None = None
        self.over = threading.Event()

    def run(self, seconds: float) -> None:
        alarm = threading.Timer(seconds, self._too_long, (seconds,))
        alarm.start()
        try:
            self._run()
        except Exception as error:
            if not self.over.is_set():
                self._failed(error)
        finally:
            alarm.cancel()

    def _run(self) -> None:
        """Each segment in a thread of its own: while one has a batch, the next has one before."""
        planned = [s for s in self.plan.segments if s.shape != "dead_letters"]
        with ThreadPoolExecutor(len(planned) + 1) as threads:
            working = [threads.submit(self._put_aside)]
            sent: list[list[Future[dict[str, list[Row]]]]] = []
            for segment in planned:
                running = _Running(self, segment)
                self.segments.append(running)
                before = list(sent)
                sent.append([Future() for _ in self.batches])
                working.append(threads.submit(self._give_all, running, before, sent[-1]))
            for work in working[1:] + working[:1]:
                work.result()

    def _give_all(
        self,
        running: "_Running",
        before: list[list[Future[dict[str, list[Row]]]]],
        sent: list[Future[dict[str, list[Row]]]],
    ) -> None:
        """Give a segment each batch once the segments before it have had theirs."""
        try:
            for number, records in enumerate(self.batches):
                if self.over.is_set():
                    return
                moving = dict(records)
                for came in before:
                    moving.update(came[number].result())
                sent[number].set_result(running.give(number, moving))
        finally:
            # Who waits for what does not come any more need not wait.
            for missing in sent:
                missing.cancel()

    def end(self) -> None:
        for segment in self.segments:
            segment.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def told(self) -> Rehearsal:
        done = Rehearsal(dead_letters=self.letters, problems=self.problems)
        for step in self.graph.in_order:
            if step.type not in INTERNAL and self.plan.segment_of(step.id):
                rows = self.rows.get(step.id, [])[:MOST_ROWS]
                done.steps[step.id] = {"rows": rows, "count": self.counts.get(step.id, 0)}
        return done

    def take(self, step: str, batch: int, count: int, texts: list[str]) -> None:
        """Rows of a step, as JSON."""
        known = self.plan.rows[step]
        self.counts[step] += count
        for text in texts[: MOST_ROWS - len(self.rows[step])]:
            row = json.loads(text)
            if row.pop(DELETED, False):
                kept = {*known.key, "_key", "_topic"}
                row = {k: v for k, v in row.items() if k in kept} | {DELETED: True}
            self.rows[step].append({**row, "_batch": batch})

    def _put_aside(self) -> None:
        """The dead letters among the records."""
        for id_ in dict.fromkeys(id_ for records in self.batches for id_ in records):
            config = self.graph.by_id[id_].parsed
            if not isinstance(config, KafkaSource) or not config.has_dead_letters:
                continue
            came = [(n, row) for n, batch in enumerate(self.batches) for row in batch.get(id_, [])]
            batch_of = {row["offset"]: n for n, row in came}
            records = _at_rest(self.spark, [row for _, row in came])
            space = {"spark": self.spark, "F": F, "given": _of(id_, records)}
            code = config.emit_records(None, fetch_at_once=False, headers=False, read="given")
            letters = config.emit_dead_letters(id_, code.strip(), "")
            found: DataFrame = eval(dedent(f"(\n{letters.strip()}\n)"), space)  # noqa: S307
            for row in found.select("key", "value", "headers").collect():
                headers = {header["key"]: bytes(header["value"]) for header in row["headers"]}
                batch = batch_of[int(headers["headrace.offset"])]
                key = None if row["key"] is None else bytes(row["key"]).decode()
                value = None if row["value"] is None else bytes(row["value"]).decode()
                letter = {"_step": id_, "_key": key, "value": value, "_batch": batch}
                self.letters.append(letter)

    def _too_long(self, seconds: float) -> None:
        self.over.set()
        self.problems.append(too_long(seconds))
        for segment in list(self.segments):
            segment.stop()

    def _failed(self, error: Exception) -> None:
        drawn = [s.id for s in self.graph.in_order if s.type not in INTERNAL]
        code = "\n".join(text for running in self.segments for text in running.code.values())
        error = self.error or error
        judged = judge(causes(error), code, drawn)
        # The file that a statement ran as is named by its step.
        ran = (frame.f_code.co_filename[1:-1] for frame, _ in walk_tb(error.__traceback__))
        step = judged.step or next((name for name in ran if name in drawn), None)
        self.problems.append(Problem(step, None, judged.message))


class _Running:
    """One segment as a query."""

    def __init__(self, trial: _Trial, segment: Segment) -> None:
        self.trial = trial
        self.graph = trial.graph
        self.batch = 0
        self.sent: dict[str, list[Row]] = {}
        self.seen = -1
        self.code: dict[str, str] = {}
        configs = (self.graph.by_id[id_].parsed for id_ in segment.steps)
        # Timers by the clock keep such a query from ever being idle.
        self.by_clock = any(
            isinstance(c, PythonProcessor) and c.time == "processing" for c in configs
        )
        spark = trial.spark
        jvm: Any = spark._jvm
        self.lists = getattr(jvm, _LISTS)
        streams = getattr(jvm, _MEMORY_STREAM)
        self.records = getattr(jvm, _GIVEN)
        # One stream for all sources: what is added to it at once is one batch.
        self.stream = streams.apply(spark._jsparkSession, self.records.encoder())
        # In one partition, so that nothing need be shuffled.
        records = DataFrame(self.stream.toDF().coalesce(1), spark)
        # Who reads an internal topic asks the step whose rows they are for their columns.
        self.space: dict[str, Any] = {**trial.known, "spark": spark, "F": F}
        self.space["CONNECTIONS"] = _Anything()
        exec(_PRELUDE, self.space)  # noqa: S102
        for calls_python in ("call_for_each", "Processor"):
            call = partial(self.space[calls_python], seconds=trial.row_seconds)
            self.space[calls_python] = call
        self.space["given"] = {}
        read = {}
        for id_ in segment.steps:
            config = self.graph.by_id[id_].parsed
            if isinstance(config, LookupTable):
                self.space["given"][id_] = self._whole(id_)
            elif isinstance(config, KafkaRecords | FromTopic):
                self.space["given"][id_] = _of(id_, records)
            else:
                continue
            read[id_] = f"given[{id_!r}]"
        self.program = Program("rehearsal", trial.plan, trial.connections, given=read)
        # The query itself then makes what all its sinks are given.
        self.folds = self._can_fold(segment)
        self.segment = segment = self._from_further_up(segment)
        self.between = between(self.graph, segment.trunk, segment.sinks)
        self.told = getattr(jvm, _TOLD)()
        for id_ in segment.steps:
            if id_ not in (*self.between, *segment.sinks):
                self._define(id_, records)
        for id_ in self.between:
            self._execute(id_, self.space)
        trial.known |= {id_: self.space[id_] for id_ in segment.steps if id_ in self.space}
        self.query = self._start()

    def give(self, batch: int, records: Mapping[str, list[Row]]) -> dict[str, list[Row]]:
        """Run a batch to its end; what went to internal topics, by the step that reads it."""
        mine = [r for id_ in self.space["given"] if id_ in records for r in records[id_]]
        mine += [
            r for id_ in self.segment.steps if self._is_made(id_) for r in records.get(id_, [])
        ]
        mine = [r for r in mine if self.graph.by_id[r["source"]].type != "lookup_table"]
        self.batch, self.sent = batch, {}
        if mine:
            come = self.records.records(json.dumps(mine))
            self.stream.addData(self.lists.asScala(come).toSeq())
            self._process()
            self._take(json.loads(self.told.taken()))
            self._observed()
        return self.sent

    def stop(self) -> None:
        self.query.stop()

    def _process(self) -> None:
        if not self.by_clock:
            self.query.processAllAvailable()
            return
        until, seen = time.monotonic() + 10, self.query.lastProgress
        while time.monotonic() < until:
            if (error := self.query.exception()) is not None:
                raise error
            now = self.query.lastProgress
            if now is not None and seen is not None and now.batchId >= seen.batchId + 3:
                return
            seen = seen or now
            time.sleep(0.1)

    def _execute(self, id_: str, space: dict[str, Any]) -> None:
        """Bind a step's DataFrame to its id."""
        if id_ not in self.code:
            step = self.graph.by_id[id_]
            self.code[id_] = "".join(self.program.statement(step, observed=False))
        # The compiler wrote it: what people type stands in it only as quoted text.
        exec(compile(self.code[id_], f"<{id_}>", "exec"), space)  # noqa: S102

    def _from_further_up(self, segment: Segment) -> Segment:
        """The segment with a trunk as far up as all behind it can be folded.

        To observe a step costs each batch a pass over the plan, and a closure to send.
        """
        while self.folds:
            into = self.graph.edges_into.get(segment.trunk, ())
            if len(into) != 1 or into[0].from_ not in segment.steps:
                break
            further = replace(segment, trunk=into[0].from_)
            if not self._can_fold(further):
                break
            segment = further
        return segment

    def _can_fold(self, segment: Segment) -> bool:
        """Whether all behind a segment's trunk can be said over the trunk's columns, and briefly:
        what is bound to a name is written out wherever that stands."""
        behind = between(self.graph, segment.trunk, segment.sinks)
        if not can_fold(self.graph, behind):
            return False
        texts = (
            t for rows in self.program.folded(segment).values() for t in rows.bindings.values()
        )
        return sum(map(len, texts)) <= MOST_FOLDED

    def _define(self, id_: str, records: DataFrame) -> None:
        step = self.graph.by_id[id_]
        self._execute(id_, self.space)
        if self._is_made(id_):
            self.space[id_] = _made(records, id_, self.space[id_])
        if self.folds and id_ == self.segment.trunk:
            return
        if self._is_shown(step):
            text = self._text(id_, self.space[id_].columns, {})
            told = f"slice(collect_list({text}), 1, {MOST_ROWS})"
            seen = F.expr(told).alias("rows"), F.expr("count(*)").alias("count")
            self.space[id_] = self.space[id_].observe(id_, *seen)

    def _is_shown(self, step: Step) -> bool:
        """Whether the rows of a step before the sinks are told."""
        return step.type not in INTERNAL and step.type != "lookup_table"

    def _is_made(self, id_: str) -> bool:
        """Whether a source's rows are made by itself, not read from a topic."""
        step = self.graph.by_id[id_]
        return issubclass(step.step_type, Source) and id_ not in self.space["given"]

    def _whole(self, id_: str) -> DataFrame:
        rows = [r for batch in self.trial.batches for r in batch.get(id_, [])]
        return _of(id_, _at_rest(self.trial.spark, rows))

    def _text(self, id_: str, columns: Iterable[str], bindings: Mapping[str, str]) -> str:
        """A row of a step as JSON: its own columns, key and time, and whether it is a deletion."""
        key = self.trial.plan.rows[id_].key
        names = list(columns)
        shown = [n for n in names if not n.startswith("_")]
        shown += [n for n in ("_key", "_timestamp") if n in names and n not in key]
        shown += [n for n in (*key, DELETED) if n.startswith("_") and n in names]
        # As one text: each function called from here asks Java anew.
        quoted = {n: "`" + n.replace("`", "``") + "`" for n in shown}
        parts = ", ".join(f"{bindings.get(n, quoted[n])} AS {quoted[n]}" for n in shown)
        return f"to_json(struct({parts}), map('ignoreNullFields', 'false'))"

    def _start(self) -> Any:
        rows: DataFrame = self.space[self.segment.trunk]
        if self.folds:
            writer = rows.select(F.array(*self._folded())).writeStream
            writer._jwrite.foreachBatch(self.told)
        else:
            writer = rows.writeStream.foreachBatch(self._write)
        if self.by_clock:
            writer = writer.trigger(processingTime="200 milliseconds")
        # Else Spark looks for it on the stack, for each thing that it makes.
        for about in ("callSite.short", "callSite.long"):
            self.trial.spark.sparkContext.setLocalProperty(about, "rehearsal")
        return (
            writer.outputMode("append" if self.segment.appends else "update")
            .option("checkpointLocation", f"scratch:{self.trial.folder / self.segment.id}")
            .start()
        )

    def _folded(self) -> Iterator[Column]:
        """The trunk's row, and what each step behind it makes of it; null where it is not meant."""
        known = self.program.folded(self.segment)
        for id_ in (self.segment.trunk, *self.between):
            if not self._is_shown(self.graph.by_id[id_]):
                continue
            rows = known[id_]
            names = self.space[id_].columns if id_ == self.segment.trunk else rows.names
            text = self._text(id_, names, rows.bindings)
            yield _where(rows, F.struct(*_told(id_, F.expr(text))))
        for sink in (s for s in self.segment.sinks if self._is_told(s)):
            rows = self.program.arriving(sink, known)
            yield _where(rows, F.struct(*self._at_sink(sink, rows, rows.names)))

    def _write(self, batch: DataFrame, number: int) -> None:
        """Take a batch of the trunk's rows on to the sinks."""
        if self.trial.over.is_set():
            return
        try:
            space = {**self.space, self.segment.trunk: _in_memory(batch)}
            for id_ in self.between:
                self._execute(id_, space)
                text = self._text(id_, space[id_].columns, {})
                self._take(_collected(space[id_].select(*_told(id_, F.expr(text)))))
            for sink in (s for s in self.segment.sinks if self._is_told(s)):
                rows = self.program.into(sink)
                found: DataFrame = eval(str(rows), space)  # noqa: S307
                self._take(_collected(found.select(*self._at_sink(sink, rows, found.columns))))
        except Exception as error:
            # Java would tell of it as text only.
            self.trial.error = error
            raise

    def _is_told(self, sink: str) -> bool:
        """Whether anybody asks for what arrives there: not where the plan shows a step's rows."""
        return self.graph.by_id[sink].type != Shown.type

    def _at_sink(self, sink: str, rows: Rows, columns: Iterable[str]) -> list[Column]:
        """What arrives at a sink: records for an internal topic, else what is told of each row."""
        config = self.graph.by_id[sink].parsed
        code = self.program.record(sink, rows) if isinstance(config, ToTopic | KafkaSink) else {}
        if isinstance(config, KafkaSink):
            # What its value is made of is told anyway.
            code = {name: code[name] for name in ("topic", "key")}
        record = {name: eval(part, {"F": F}) for name, part in code.items()}  # noqa: S307
        if not isinstance(config, ToTopic):
            text = F.expr(self._text(sink, columns, rows.bindings))
            return _told(sink, text, *record.values())
        told = [record["value"], record["topic"], record["key"]]
        if "headers" in record:
            plain = F.transform(
                record["headers"],
                lambda h: F.struct(h["key"], h["value"].cast("string").alias("value")),
            )
            told.append(F.to_json(plain))
        return _told(sink, *told)

    def _take(self, rows: Iterable[list[Any]]) -> None:
        """Take in what `_told` says."""
        told: dict[str, list[list[Any]]] = defaultdict(list)
        for step, *parts in rows:
            told[step].append(parts)
        for step, those in told.items():
            config = self.graph.by_id[step].parsed
            if isinstance(config, ToTopic):
                self._send(config, those)
            else:
                texts = [
                    text
                    if topic is None
                    else json.dumps({**json.loads(text), "_topic": topic, "_key": key})
                    for text, topic, key, _ in those
                ]
                self.trial.take(step, self.batch, len(texts), texts)

    def _send(self, config: ToTopic, written: list[list[Any]]) -> None:
        (to,) = (
            s.id
            for s in self.graph.steps
            if isinstance(s.parsed, FromTopic) and s.parsed.came == config.came
        )
        records = self.sent.setdefault(to, [])
        for value, topic, key, headers in written:
            records.append(
                {
                    "source": to,
                    "key": key,
                    "value": value,
                    "topic": topic,
                    "partition": 0,
                    "offset": len(records),
                    "timestamp": datetime.now(UTC).isoformat(),
                    "headers": json.loads(headers or "[]"),
                }
            )

    def _observed(self) -> None:
        """Take in what the batches since the last time have seen of the steps before the trunk."""
        told = getattr(self.trial.spark._jvm, _TOLD)
        for report in json.loads(told.reports(self.query._jsq, self.seen)):
            # Between batches Spark reports, too, under the number of the one to come.
            if seen := report.get("observedMetrics"):
                self.seen = report["batchId"]
                for name, of in seen.items():
                    if name in self.graph.by_id:
                        self.trial.take(name, self.batch, of["count"], of["rows"])


def _told(step: str, text: Column, *record: Column) -> list[Column]:
    """A row of a step in columns of text; of a record its topic, key and headers, too."""
    names = ("step", "text", "topic", "key", "headers")
    parts = [F.lit(step), text, *record]
    parts += [F.lit(None)] * (len(names) - len(parts))
    return [part.cast("string").alias(name) for part, name in zip(parts, names, strict=True)]


def _where(rows: Rows, told: Column) -> Column:
    """What is told of folded rows, null for those that are not meant."""
    return F.when(F.expr(rows.condition), told) if rows.condition else told


def _collected(told: DataFrame) -> list[list[Any]]:
    """Columns of text, with one call of Java's instead of many."""
    session: Any = told.sparkSession
    found: list[list[Any]] = json.loads(getattr(session._jvm, _TOLD).rows(told._jdf))
    return found


def _in_memory(rows: DataFrame) -> DataFrame:
    """The same rows, read once; Spark needs no job for what is computed of them then."""
    session = rows.sparkSession
    java = session._jsparkSession.createDataFrame(rows._jdf.collectAsList(), rows._jdf.schema())
    return DataFrame(java, session)


class _Anything(dict[str, Any]):
    """Connections that nothing is read from."""

    def __missing__(self, name: str) -> dict[str, str]:
        return {}


def _at_rest(spark: SparkSession, records: list[Row]) -> DataFrame:
    """Records that are all there at once."""
    jvm: Any = spark._jvm
    given = getattr(jvm, _GIVEN)
    rows = given.records(json.dumps(records))
    return DataFrame(spark._jsparkSession.createDataset(rows, given.encoder()).toDF(), spark)


def _of(source: str, records: DataFrame) -> DataFrame:
    """The records for one source, as Kafka would have them."""
    return records.where(F.col("source") == source).drop("source")


def _made(records: DataFrame, source: str, like: DataFrame) -> DataFrame:
    """Given rows in place of those that a source would make."""
    row = F.from_json(F.col("value").cast("string"), like.schema).alias("row")
    return (
        records.where(F.col("source") == source)
        .select(row, F.col("timestamp").alias("at"), F.col("offset").alias("number"))
        .select("row.*", "at", "number")
        .withColumns({"_timestamp": F.col("at"), "_offset": F.col("number")})
        .drop("at", "number")
    )
