from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from runner import sql
from runner.fields import ColumnName, Expression
from runner.rows import Column, Rows
from runner.step_type import Fault, Group, Input, StepType, unknown_columns


class Explode(StepType):
    """Make one row of each element of an array or map. An empty or missing one gives no row; an
    element of a map is a struct of `key` and `value`."""

    type: ClassVar[str] = "explode"
    title: ClassVar[str] = "Explode"
    group: ClassVar[Group] = "Rows"
    icon: ClassVar[str] = "arrows-split"
    inputs: ClassVar[tuple[Input, ...]] = (Input(kinds=("stream",)),)

    expression: Expression = Field(title="Array or map", examples=["split(value, ' ')"])
    as_: ColumnName = Field(alias="as", title="Name of the element")

    def faults(self, rows: Rows) -> Iterator[Fault]:
        yield from unknown_columns(rows, self.expression, "expression")

    def gives(self, rows: Rows) -> Rows:
        return rows.with_columns(Column(self.as_))

    def emit(self, rows: Rows) -> str:
        elements = rows.expression(self.expression)
        if sql.gives_map(self.expression, {c.name: c.type for c in rows.columns}):
            elements = f"MAP_ENTRIES({elements})"
        return f"{rows}.withColumn({self.as_!r}, F.explode(F.expr({elements!r})))"
