from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from runner.fields import ColumnRef, Expression, Topic
from runner.rows import Column, Rows
from runner.step_type import Fault, Foldable, Group, Input, unknown_columns, unknown_names
from runner.steps.record_key import key_sql


class KeyBy(Foldable):
    """Give each row another key: what a Kafka topic further down is keyed by."""

    type: ClassVar[str] = "key_by"
    title: ClassVar[str] = "Key by"
    group: ClassVar[Group] = "Rows"
    icon: ClassVar[str] = "key"
    inputs: ClassVar[tuple[Input, ...]] = (Input(kinds=("stream",)),)

    columns: list[ColumnRef] = Field(
        default_factory=list,
        title="Columns",
        description="One is the key as plain text, several are a JSON object.",
        max_length=20,
        json_schema_extra={"format": "columns"},
    )
    expression: Expression | None = Field(
        None, title="Expression", description="Instead of columns."
    )
    through: Topic | None = Field(
        None,
        title="Through topic",
        description="Write the rows to this topic, by their new key, and go on from there.",
    )

    def faults(self, rows: Rows) -> Iterator[Fault]:
        if not self.columns and not self.expression:
            yield "columns", "Choose the columns of the key, or write an expression."
        if self.columns and self.expression:
            yield "expression", "Choose columns or an expression, not both."
        yield from unknown_names(rows, self.columns, "columns")
        if self.expression:
            yield from unknown_columns(rows, self.expression, "expression")

    def gives(self, rows: Rows) -> Rows:
        return rows.with_columns(Column("_key", "string"))

    def emit(self, rows: Rows) -> str:
        return f"{rows}.withColumn('_key', F.expr({self._key(rows)!r}))"

    def passes_columns(self) -> bool:
        return True

    def fold(self, rows: Rows) -> Rows:
        return replace(self.gives(rows), bindings={**rows.bindings, "_key": self._key(rows)})

    def goes_through(self) -> str | None:
        return self.through

    def _key(self, rows: Rows) -> str:
        if self.expression:
            return f"CAST({rows.expression(self.expression)} AS STRING)"
        return key_sql(rows, self.columns)
