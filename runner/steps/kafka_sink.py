from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from runner.fields import ColumnRef, ConnectionName, Expression, NamedExpression, Topic
from runner.rows import DELETED, SHUFFLED, Rows
from runner.step_type import Fault, Sink, repeated_names, unknown_columns, unknown_names
from runner.steps.record_key import is_plain, json_text, key_text

NO_KEY = "F.lit(None).cast('string')"


class KafkaSink(Sink):
    """Write each row to a Kafka topic, fixed or computed row by row. A key that a table deletes
    is written without a value."""

    type: ClassVar[str] = "kafka_sink"
    title: ClassVar[str] = "Kafka topic"
    icon: ClassVar[str] = "database-export"

    connection: ConnectionName = Field(title="Connection")
    topic: Topic | None = Field(None, title="Topic")
    topic_expression: Expression | None = Field(
        None, title="Topic by expression", description="Instead of a topic: computed for each row."
    )
    key: list[ColumnRef] | None = Field(
        None,
        title="Key",
        description="Else the table's key, or the key the row came with. One column is written "
        "as plain text, several as a JSON object.",
        json_schema_extra={"format": "columns"},
    )
    value: list[ColumnRef] | None = Field(
        None,
        title="Value",
        description="Else all columns but those that begin with _.",
        json_schema_extra={"format": "columns"},
    )
    format: Literal["json", "text"] = Field("json", title="Format")
    headers: list[NamedExpression] = Field(default_factory=list, title="Headers", max_length=50)

    @model_validator(mode="before")
    @classmethod
    def _nothing_for_empty(cls, data: Any) -> Any:
        if isinstance(data, dict):
            empty = {"topic": "", "topic_expression": ""}
            return {k: v for k, v in data.items() if not (k in empty and v == empty[k])}
        return data

    def faults(self, rows: Rows) -> Iterator[Fault]:
        if not self.topic and not self.topic_expression:
            yield "topic", "Name the topic to write to."
        if self.topic and self.topic_expression:
            yield "topic_expression", "Name a topic or an expression, not both."
        if self.topic_expression:
            yield from unknown_columns(rows, self.topic_expression, "topic_expression")
        yield from unknown_names(rows, self.key or [], "key")
        yield from unknown_names(rows, self.value or [], "value")
        yield from repeated_names([h.name for h in self.headers], "headers")
        for i, header in enumerate(self.headers):
            yield from unknown_columns(rows, header.expression, f"headers.{i}.expression")
        if self.format == "text" and len(self._value(rows)) != 1:
            yield "value", "Text is written from one column; choose which."
        elif not self._value(rows):
            yield "value", "There is no column to write; choose at least one."

    def emit(self, rows: Rows) -> str:
        return f"{rows}.select({columns_of(self.record(rows))})"

    def record(self, rows: Rows) -> dict[str, str]:
        """The parts of each record by name, as the Python source of columns.

        Always topic, key and value; `partition` where a table's key may be null, since Kafka
        spreads records without a key, and the changes of a row must stay in order; `headers`
        where there are some.

        The header `headrace.id` is the same for a record that was written twice, by a job that
        was killed and went on; a consumer that drops what it has seen drops the repeats.
        """
        topic = f"F.lit({self.topic!r})"
        if self.topic_expression:
            topic = f"F.expr({rows.expression(self.topic_expression)!r})"
        names = self._key_names(rows)
        record = {
            "topic": topic,
            "key": NO_KEY if names is None else key_text(rows, names),
            "value": self._value_text(rows),
        }
        if rows.kind == "table" and names and is_plain(names):
            record["partition"] = f"F.when({rows.column(names[0])}.isNull(), 0)"
        headers = [
            header(h.name, f"F.expr({rows.expression(h.expression)!r}).cast('string')")
            for h in self.headers
        ]
        if named := row_id(rows):
            headers.append(header("headrace.id", named))
        if headers:
            record["headers"] = f"F.array({', '.join(headers)})"
        return record

    def signature(self) -> object:
        return None

    def _value(self, rows: Rows) -> list[str]:
        if self.value:
            return self.value
        return list(rows.value_names)

    def _key_names(self, rows: Rows) -> list[str] | None:
        if self.key:
            return self.key
        if rows.kind == "table":
            return list(rows.key)
        return ["_key"] if "_key" in rows.names else None

    def _value_text(self, rows: Rows) -> str:
        if self.format == "text":
            text = f"{rows.column(self._value(rows)[0])}.cast('string')"
        else:
            text = json_text(rows, self._value(rows))
        if rows.has_deletions:
            return f"F.when(~{rows.column(DELETED)}, {text})"
        return text


def row_id(rows: Rows) -> str | None:
    """What names a row, the same when a crash repeats it, as the Python source of a column."""
    names = [name for name in rows.lane if not name.startswith(SHUFFLED)]
    names += [rows.version] if rows.version else []
    return f"F.to_json({rows.struct(names)})" if names else None


def columns_of(record: dict[str, str]) -> str:
    """The parts of a record as the Python source of columns to select."""
    return ", ".join(f"{source}.alias({name!r})" for name, source in record.items())


def header(name: str, text: str) -> str:
    """A header of a record, as the Python source of a column; `text` is that of its value."""
    return f"F.struct(F.lit({name!r}).alias('key'), {text}.cast('binary').alias('value'))"
