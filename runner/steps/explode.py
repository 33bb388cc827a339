from collections.abc import Iterator
from dataclasses import replace
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
        place = self._place(rows)
        given = rows.with_columns(Column(place, "int"), Column(self.as_))
        return replace(given, lane=(*rows.lane, place) if rows.lane else ())

    def emit(self, rows: Rows) -> str:
        elements = rows.expression(self.expression)
        if sql.gives_map(self.expression, {c.name: c.type for c in rows.columns}):
            elements = f"MAP_ENTRIES({elements})"
        kept = "'*'"
        if self.as_.lower() in {name.lower() for name in rows.names}:
            others = (n for n in rows.names if n.lower() != self.as_.lower())
            kept = ", ".join(repr(sql.quoted(n)) for n in others)
        names = f"{self._place(rows)!r}, {self.as_!r}"
        return f"{rows}.select({kept}, F.posexplode(F.expr({elements!r})).alias({names}))"

    def passes_columns(self) -> bool:
        return True

    def _place(self, rows: Rows) -> str:
        """The hidden column that says which element of the array a row was made of."""
        name = f"_place_of_{self.as_}"
        while name in rows.names:
            name += "_"
        return name
