from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from runner.fields import Expression
from runner.rows import DELETED, Column, Rows
from runner.step_type import Fault, Foldable, Group, unknown_columns


class Filter(Foldable):
    """Keep the rows for which a condition is true. In a table, a key whose newest row no longer
    matches is deleted."""

    type: ClassVar[str] = "filter"
    title: ClassVar[str] = "Filter"
    group: ClassVar[Group] = "Rows"
    icon: ClassVar[str] = "filter"

    condition: Expression = Field(title="Condition", examples=["product is not null"])

    def faults(self, rows: Rows) -> Iterator[Fault]:
        yield from unknown_columns(rows, self.condition, "condition")

    def gives(self, rows: Rows) -> Rows:
        if rows.kind == "table":
            return rows.with_columns(Column(DELETED, "boolean"))
        return rows

    def emit(self, rows: Rows) -> str:
        if rows.kind == "table":
            return f"{rows}.withColumn({DELETED!r}, F.expr({self._gone(rows)!r}))"
        return f"{rows}.where({rows.expression(self.condition)!r})"

    def passes_columns(self) -> bool:
        return True

    def fold(self, rows: Rows) -> Rows:
        if rows.kind == "table":
            bindings = {**rows.bindings, DELETED: self._gone(rows)}
            return replace(self.gives(rows), bindings=bindings)
        return replace(rows, conditions=(*rows.conditions, rows.expression(self.condition)))

    def _gone(self, rows: Rows) -> str:
        unmatched = f"NOT COALESCE({rows.expression(self.condition)}, FALSE)"
        if not rows.has_deletions:
            return unmatched
        return f"{rows.bindings.get(DELETED, DELETED)} OR {unmatched}"
