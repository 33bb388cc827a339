"""How records of Kafka become rows: shared by the steps that read topics."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import Field, model_validator

from runner import sql
from runner.fields import ConnectionName, Topic, TopicPattern, TypedColumn
from runner.rows import PROVENANCE, SOURCE_COLUMNS, Column
from runner.step_type import Fault, Source, repeated_names, reserved_names

# Where Spark puts the text of a record that does not fit; a column of no record.
CORRUPT = "_corrupt_record"
# What the value of a format without columns is.
_WHOLE = {"text": "string", "bytes": "binary"}
# Types that a field of a CSV record can't have.
_NESTED = ("array", "map", "struct", "variant", "binary")


class KafkaRecords(Source):
    """The fields of every step that reads topics."""

    connection: ConnectionName = Field(title="Connection")
    topics: list[Topic] = Field(
        default_factory=list, title="Topics", max_length=100, json_schema_extra={"format": "topics"}
    )
    topic_pattern: TopicPattern | None = Field(
        None, title="Topic pattern", description="Instead of topics: a regular expression of names."
    )
    format: Literal["json", "csv", "text", "bytes"] = Field("json", title="Format")
    columns: list[TypedColumn] = Field(
        default_factory=list,
        title="Columns",
        description="The fields of a JSON record that become columns, or all those of a CSV "
        "record in their order. Text and bytes have one: value.",
        max_length=500,
    )

    @model_validator(mode="before")
    @classmethod
    def _one_of_topics_and_pattern(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("topic_pattern") == "":
            data = {k: v for k, v in data.items() if k != "topic_pattern"}
        return data

    def faults(self) -> Iterator[Fault]:
        if not self.topics and not self.topic_pattern:
            yield "topics", "Name the topic to read."
        if self.topics and self.topic_pattern:
            yield "topic_pattern", "Name topics or a pattern, not both."
        if len(set(self.topics)) < len(self.topics):
            yield "topics", "A topic is named twice; remove one."
        if self.has_fields and not self.columns:
            yield "columns", f"Name at least one column of the {self.format.upper()} records."
        if not self.has_fields and self.columns:
            kind = self.format.capitalize()
            yield "columns", f"{kind} records have one column, value; remove these, or choose json."
        names = [c.name for c in self.columns]
        yield from repeated_names(names, "columns")
        ours = {*SOURCE_COLUMNS, *PROVENANCE, CORRUPT, "_branch"}
        yield from reserved_names(names, "columns", ours)
        for i, column in enumerate(self.columns):
            if self.format == "csv" and column.type.lower().startswith(_NESTED):
                message = f"A CSV field can't be {column.type}; choose a plain type."
                yield f"columns.{i}.type", message

    @property
    def has_fields(self) -> bool:
        """Whether a record's value is read into columns; else it is one, as it is."""
        return self.format not in _WHOLE

    def value_columns(self) -> tuple[Column, ...]:
        if not self.has_fields:
            return (Column("value", _WHOLE[self.format]),)
        return tuple(Column(c.name, c.type) for c in self.columns)

    def subscription(self) -> tuple[str, str]:
        """Spark's option that names the topics, and its value."""
        if self.topic_pattern:
            return "subscribePattern", self.topic_pattern
        return "subscribe", ",".join(self.topics)

    def parsed(self, mode: str = "PERMISSIVE") -> str:
        """The call that reads a record's value into a struct, in a column named as the format."""
        fields = [f"{sql.quoted(c.name)} {c.type}" for c in self.columns]
        options = {"mode": mode}
        if mode == "PERMISSIVE":
            fields.append(f"{CORRUPT} string")
            options["columnNameOfCorruptRecord"] = CORRUPT
        read = f"F.from_{self.format}(F.col('value').cast('string')"
        return f".withColumn({self.format!r}, {read}, {', '.join(fields)!r}, {options!r}))"

    def good(self) -> str:
        """The condition of the records that fit their columns."""
        return f"{self.format} IS NOT NULL AND {self.format}.{CORRUPT} IS NULL"

    def bad(self) -> str:
        """The condition of those that don't."""
        return f"{self.format} IS NULL OR {self.format}.{CORRUPT} IS NOT NULL"

    def value_of(self, name: str) -> str:
        """A column of the value, as Python source."""
        if self.has_fields:
            return f"F.col({f'{self.format}.{sql.quoted(name)}'!r})"
        return "F.col('value')" + (".cast('string')" if self.format == "text" else "")


def starting(start: Any) -> str:
    """The option call that says where reading begins: `earliest`, `latest`, a time, offsets."""
    if isinstance(start, str):
        return f".option('startingOffsets', {start!r})"
    if "timestamp" in start:
        moment = datetime.fromisoformat(start["timestamp"])
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (
            f".option('startingTimestamp', {int(moment.timestamp() * 1000)})"
            ".option('startingOffsetsByTimestampStrategy', 'latest')"
        )
    return f".option('startingOffsets', {json.dumps(start['offsets'])!r})"
