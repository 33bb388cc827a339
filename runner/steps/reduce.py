from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from runner import sql
from runner.fields import ColumnRef, Expression
from runner.rows import VERSION, Column, Rows
from runner.step_type import (
    Fault,
    Group,
    Input,
    State,
    StepType,
    reserved_groups,
    state_operator,
    unknown_columns,
    unknown_names,
)

_ACC = Column("acc")


class Reduce(StepType):
    """Fold the rows of each group into one value, `acc`: it begins as one expression and becomes
    another with each row. Each change is a new row of a table."""

    type: ClassVar[str] = "reduce"
    title: ClassVar[str] = "Reduce"
    group: ClassVar[Group] = "State"
    icon: ClassVar[str] = "arrows-minimize"
    inputs: ClassVar[tuple[Input, ...]] = (Input(kinds=("stream",)),)

    group_by: list[ColumnRef] = Field(
        default_factory=list,
        title="Group by",
        max_length=50,
        json_schema_extra={"format": "columns"},
    )
    initial: Expression = Field(
        title="Initial", description="What acc is before the first row.", examples=["0"]
    )
    expression: Expression = Field(
        title="Expression",
        description="What acc becomes, from acc and the row's columns.",
        examples=["acc + amount"],
    )

    def faults(self, rows: Rows) -> Iterator[Fault]:
        yield from unknown_names(rows, self.group_by, "group_by")
        yield from reserved_groups(self.group_by)
        seen: set[str] = set()
        for i, name in enumerate(self.group_by):
            if name.lower() in {*seen, "acc"}:
                yield f"group_by.{i}", f"{name} is already a column of the result; remove it."
            seen.add(name.lower())
        for name in sorted(sql.columns_of(self.initial)):
            yield "initial", f"acc begins before there is a row, so it can't use {name}."
        yield from unknown_columns(rows.with_columns(_ACC), self.expression, "expression")

    def gives(self, rows: Rows) -> Rows:
        groups = tuple(Column(name, rows.type_of(name)) for name in self.group_by)
        columns = (*groups, _ACC, Column(VERSION, "bigint"))
        key = tuple(self.group_by)
        return Rows("table", columns, key=key, lane=key, version=VERSION)

    def emit(self, rows: Rows) -> str:
        return state_operator(
            "Reduce",
            rows,
            group_by=list(self.group_by),
            initial=rows.expression(self.initial),
            expression=rows.with_columns(_ACC).expression(self.expression),
            **rows.arrival,
        )

    def state(self, rows: Rows) -> State:
        return State()
