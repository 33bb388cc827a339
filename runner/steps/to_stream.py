from dataclasses import replace
from typing import ClassVar

from runner.rows import GROUP, Column, Rows
from runner.step_type import Foldable, Group, Input
from runner.steps.record_key import key_sql, with_group


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
        given = replace(keyed, kind="stream", key=())
        return given.grouped() if _named_by_key(rows) else given

    def emit(self, rows: Rows) -> str:
        code = str(rows)
        if rows.key != ("_key",):
            code = f"{code}.withColumn('_key', F.expr({key_sql(rows, rows.key)!r}))"
        return with_group(code) if _named_by_key(rows) else code

    def passes_columns(self) -> bool:
        return True

    def fold(self, rows: Rows) -> Rows:
        key = key_sql(rows, rows.key)
        new = {"_key": key}
        if _named_by_key(rows):
            new[GROUP] = f"xxhash64({key})"
        return replace(self.gives(rows), bindings={**rows.bindings, **new})


def _named_by_key(rows: Rows) -> bool:
    """Whether a table's rows are named by columns that steps behind it may change."""
    return rows.lane == rows.key
