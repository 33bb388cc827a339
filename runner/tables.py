"""Which tables a plan has, and where the rows of each can be found: state, and topics."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from runner.check import flowing, inputs_of
from runner.plan import Plan, Segment, drops_repeats
from runner.rows import Rows
from runner.step_type import Sink, Source
from runner.steps.aggregate import Aggregate
from runner.steps.internal_topic import INTERNAL, FromTopic, ToTopic
from runner.steps.kafka_records import KafkaRecords
from runner.steps.kafka_sink import KafkaSink
from runner.steps.kafka_table import KafkaTable
from runner.steps.peek import Peek
from runner.steps.select import Select
from runner.steps.to_table import ToTable


@dataclass(frozen=True)
class Side:
    """A join that remembers a table which flows into it, and by which port."""

    join: str
    port: Literal["left", "right"]


@dataclass(frozen=True)
class Carrier:
    """A topic to which every change of a table is written, whole; `sink` is the step that does."""

    sink: str
    connection: str
    topic: str


@dataclass(frozen=True)
class Table:
    """A step that gives a table, and where its rows are.

    `root` is the step of which the table is made, row by row, or the step itself. `kept` says
    where the root's rows are: its own `state`, the state of a join (`side`), a topic that carries
    it, the topics it is read from (`sources`); None where nothing keeps them. `segment` is the
    one that remembers, None where a topic does. `live`: changes that the segment has not
    committed yet are in a topic.
    """

    step: str
    root: str
    kept: Literal["state", "side", "topic", "sources"] | None
    segment: Segment | None
    live: bool

    @property
    def real_time(self) -> bool:
        return self.segment is not None and self.segment.mode == "real_time"


def tables(planned: Plan, name: str) -> list[Table]:
    """The tables among the steps that people drew, in their order; `name` is the pipeline's."""
    return [
        table_of(planned, step.id, name)
        for step in planned.graph.in_order
        if step.type not in INTERNAL and is_table(planned, step.id)
    ]


def is_table(planned: Plan, step: str) -> bool:
    """Whether a step runs and gives a table."""
    rows = planned.rows.get(step)
    drawn = planned.graph.by_id[step].step_type
    runs = planned.segment_of(step) is not None
    return runs and rows is not None and rows.kind == "table" and not issubclass(drawn, Sink)


def table_of(planned: Plan, step: str, name: str) -> Table:
    """Where the rows of a table are."""
    way = list(_way(planned, step))
    root = way[-1]
    live = any(carrier(planned, id_, name) for id_ in way)
    if remembers(planned, root):
        return Table(step, root, "state", planned.segment_of(root), live)
    if side := side_of(planned, root):
        return Table(step, root, "side", planned.segment_of(side.join), live)
    if isinstance(planned.graph.by_id[root].parsed, KafkaTable):
        return Table(step, root, "sources", None, True)
    if carrier(planned, root, name):
        return Table(step, root, "topic", None, True)
    kept: Literal["sources"] | None = "sources" if _is_read_again(planned, root) else None
    return Table(step, root, kept, None, kept is not None)


def remembers(planned: Plan, step: str) -> bool:
    """Whether a step has the table that it gives as its state."""
    known, config = planned.graph.by_id[step], planned.graph.by_id[step].parsed
    inputs = inputs_of(planned.graph, known, planned.rows)
    return config is not None and inputs is not None and config.state(**inputs) is not None


def is_sql(planned: Plan, step: str) -> bool:
    """Whether a table is an aggregation of Spark's own."""
    config = planned.graph.by_id[step].parsed
    return isinstance(config, Aggregate) and not config.by_operator


def side_of(planned: Plan, step: str) -> Side | None:
    """A join that remembers the rows of a step as they are."""
    for edge in planned.graph.edges_out_of.get(step, ()):
        to = planned.graph.by_id[edge.to]
        if isinstance(to.parsed, Peek):
            found = side_of(planned, to.id)
        elif isinstance(to.parsed, ToTopic):
            found = next(
                (
                    side
                    for end in planned.graph.steps
                    if isinstance(end.parsed, FromTopic) and end.parsed.came == to.parsed.came
                    if (side := side_of(planned, end.id))
                ),
                None,
            )
        elif edge.port in ("left", "right") and remembers_side(planned, to.id):
            found = Side(to.id, edge.port)  # type: ignore[arg-type]
        else:
            continue
        if found is not None and planned.segment_of(found.join) is not None:
            return found
    return None


def remembers_side(planned: Plan, join: str) -> bool:
    """Whether a step is a join that remembers the tables that flow into it."""
    step = planned.graph.by_id[join]
    return step.type == "join" and remembers(planned, join)


def carrier(planned: Plan, step: str, name: str) -> Carrier | None:
    """The topic that carries exactly a step's table, by its key and with all its columns."""
    return _carrier(planned, step, planned.rows[step], name)


def operators(planned: Plan, segment: Segment) -> list[str | None]:
    """The stateful steps of a segment as Spark numbers their state, None what drops repeats.

    Spark counts from the sinks up, the left of a join before its right.
    """
    return list(_operators(planned, segment, segment.trunk))


def _operators(planned: Plan, segment: Segment, step: str) -> Iterator[str | None]:
    graph = planned.graph
    stateful = remembers(planned, step)
    if stateful:
        yield step
    edges = graph.edges_into.get(step, ())
    for edge in sorted(edges, key=lambda e: e.port or ""):
        if edge.from_ not in segment.steps:
            continue
        given = flowing(graph, edge, planned.rows)
        one = given is not None and given.repeats and given.version is not None
        if stateful and one and drops_repeats(graph, planned.rows, step):
            yield None
        yield from _operators(planned, segment, edge.from_)


def _way(planned: Plan, step: str) -> Iterator[str]:
    """A table and those that it is made of row by row, up to the one that something keeps."""
    yield step
    graph, config = planned.graph, planned.graph.by_id[step].parsed
    if isinstance(config, FromTopic):
        yield from _way(planned, config.of)
        return
    if isinstance(config, Source | ToTable) or remembers(planned, step):
        return
    for edge in graph.edges_into.get(step, ()):
        rows = flowing(graph, edge, planned.rows)
        if rows is not None and rows.kind == "table":
            yield from _way(planned, edge.from_)


def _carrier(planned: Plan, step: str, table: Rows, name: str) -> Carrier | None:
    for edge in planned.graph.edges_out_of.get(step, ()):
        to = planned.graph.by_id[edge.to]
        config = to.parsed
        if planned.segment_of(to.id) is None:
            continue
        if isinstance(config, ToTopic):
            return Carrier(to.id, config.connection, config.topic_of(name))
        if isinstance(config, KafkaSink) and config.topic and _is_whole(planned, config, table):
            return Carrier(to.id, config.connection, config.topic)
        if _passes(config, table):
            found = _carrier(planned, to.id, table, name)
            if found is not None:
                return found
    return None


def _passes(config: object, table: Rows) -> bool:
    """Whether a step leaves every column of a table's rows as it is, and every row."""
    if isinstance(config, Peek):
        return True
    names = {name.lower() for name in table.names}
    return (
        isinstance(config, Select)
        and config.keep == "all"
        and names.isdisjoint(column.name.lower() for column in config.columns)
    )


def _is_whole(planned: Plan, sink: KafkaSink, table: Rows) -> bool:
    """Whether the records of a sink tell all of a table's rows, and are nobody else's."""
    writers = [
        s.parsed
        for s in planned.graph.steps
        if isinstance(s.parsed, KafkaSink) and s.parsed.topic == sink.topic
    ]
    return (
        len(writers) == 1
        and sink.format == "json"
        and tuple(sink.key or table.key) == table.key
        and (not sink.value or set(table.value_names) <= set(sink.value))
    )


def _is_read_again(planned: Plan, step: str) -> bool:
    """Whether all that leads to a table comes straight from topics, and nothing is remembered."""
    graph = planned.graph
    above = [graph.by_id[id_] for id_ in graph.upstream(step)]
    return all(
        not remembers(planned, s.id)
        and (not issubclass(s.step_type, Source) or isinstance(s.parsed, KafkaRecords))
        for s in above
    )
