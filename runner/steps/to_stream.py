from dataclasses import replace
from typing import ClassVar

from runner.rows import Column, Rows
from runner.step_type import Foldable, Group, Input
from runner.steps.record_key import key_sql


class ToStream(Foldable):
    """Take each change of a table as an event of its own. A deletion is one without values,
    which no aggregation counts and a Kafka topic keeps as such."""

    type: ClassVar[str] = "to_stream"
    title: ClassVar[str] = "To stream"
    group: ClassVar[Group] = "State"
    icon: ClassVar[str] = "arrows-right"
    inputs: ClassVar[tuple[Input, ...]] = (Input(kinds=("table",)),)

    def gives(self, rows: Rows) -> Rows:
        keyed = rows.with_columns(Column("_key", "string"))
        return replace(keyed, kind="stream", key=())

    def emit(self, rows: Rows) -> str:
        if rows.key == ("_key",):
            return str(rows)
        return f"{rows}.withColumn('_key', F.expr({key_sql(rows, rows.key)!r}))"

    def passes_columns(self) -> bool:
        return True

    def fold(self, rows: Rows) -> Rows:
        return replace(
            self.gives(rows), bindings={**rows.bindings, "_key": key_sql(rows, rows.key)}
        )
