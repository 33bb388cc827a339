"""The two ends of a topic between two segments: steps that the plan adds and nobody draws."""

from dataclasses import replace
from typing import ClassVar

from runner import sql
from runner.fields import Config
from runner.rows import ARRIVED, DELETED, VERSION, Column, Rows
from runner.step_type import Input, Sink, Source
from runner.steps.console_sink import ConsoleSink
from runner.steps.kafka_sink import header
from runner.steps.record_key import NO_COLUMNS

# Microseconds, which JSON's default would lose.
_TIMES = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}


class _End(Config):
    """The fields of both ends: the step whose rows they are, by which of its outputs."""

    of: str
    by: str | None = None
    connection: str
    # Where the drawing names it.
    topic: str | None = None

    @property
    def came(self) -> tuple[str, str | None]:
        return self.of, self.by

    def topic_of(self, pipeline: str) -> str:
        """The topic's name."""
        if self.topic:
            return self.topic
        output = f".{self.by}" if self.by else ""
        return f"headrace.{pipeline}.{self.of}{output}.rows"


class ToTopic(_End, Sink):
    """Rows on their way to another segment."""

    type: ClassVar[str] = "to_topic"
    title: ClassVar[str] = "Internal topic"
    icon: ClassVar[str] = "route"
    inputs: ClassVar[tuple[Input, ...]] = (Input(),)

    def record(self, rows: Rows, topic: str) -> dict[str, str]:
        """The parts of each record by name, as the Python source of columns: topic, key, value.

        The key is the table's, or what names a stream's row, so that the order of what belongs
        together holds; a deletion has no value.
        """
        key = list(rows.key if rows.kind == "table" else rows.lane)
        value = _json(rows, list(rows.names))
        if rows.kind == "table" and rows.has_deletions:
            value = f"F.when(~{rows.column(DELETED)}, {value})"
        record = {
            "topic": f"F.lit({topic!r})",
            "key": _json(rows, key) if key else f"F.lit({NO_COLUMNS!r})",
            "value": value,
        }
        if rows.kind == "table" and rows.version:
            version = header("version", f"{rows.column(rows.version)}.cast('string')")
            record["headers"] = f"F.array({version})"
        return record

    def signature(self) -> object:
        return None


class FromTopic(_End, Source):
    """Rows that come from another segment."""

    type: ClassVar[str] = "from_topic"
    title: ClassVar[str] = "Internal topic"
    icon: ClassVar[str] = "route"

    def given(self, rows: Rows) -> Rows:
        """What these rows are behind the topic."""
        if rows.kind == "table":
            kept = rows.with_columns(
                Column(DELETED, "boolean"), Column(VERSION, "bigint"), Column(ARRIVED, "timestamp")
            )
            return replace(kept, lane=rows.key, version=VERSION)
        return replace(rows.with_columns(Column(ARRIVED, "timestamp")), repeats=True)

    def emit_rows(self, rows: Rows, schema: str, records: str) -> str:
        """The DataFrame; `schema` is the source of the schema of what went in."""
        if rows.kind == "stream":
            row = f"F.from_json(F.col('value').cast('string'), {schema}, {_TIMES!r})"
            kept = ", ".join(repr("row." + sql.quoted(n)) for n in rows.names if n != ARRIVED)
            arrived = f"F.col('timestamp').alias({ARRIVED!r})"
            return f"{records}.select({row}.alias('row'), {arrived}).select({kept}, {ARRIVED!r})"
        # Of a deletion there is the key only, and which change of the key it is.
        row = f"F.from_json(F.coalesce('value', 'key').cast('string'), {schema}, {_TIMES!r})"
        version = "F.col('offset')"
        if rows.version:
            version = "F.expr('CAST(CAST(headers[0].value AS STRING) AS BIGINT)')"
        names = ", ".join(
            repr("row." + sql.quoted(n)) for n in rows.names if n not in (DELETED, VERSION, ARRIVED)
        )
        return f"""
            {records}
            .select(
                {row}.alias('row'),
                F.col('value').isNull().alias({DELETED!r}),
                {version}.alias({VERSION!r}),
                F.col('timestamp').alias({ARRIVED!r}),
            )
            .select({names}, {DELETED!r}, {VERSION!r}, {ARRIVED!r})
        """

    def signature(self) -> object:
        return None


class Shown(ConsoleSink):
    """The rows that a step shows in the browser."""

    type: ClassVar[str] = "shown"
    of: str


def _json(rows: Rows, names: list[str]) -> str:
    return f"F.to_json({rows.struct(names)}, {_TIMES!r})"


INTERNAL: dict[str, type[ToTopic] | type[FromTopic] | type[Shown]] = {
    t.type: t for t in (ToTopic, FromTopic, Shown)
}
