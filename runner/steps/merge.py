from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from runner.rows import Column, Rows
from runner.step_type import Fault, Group, Input, StepType


class Merge(StepType):
    """Put the rows of several streams into one, column by column name."""

    type: ClassVar[str] = "merge"
    title: ClassVar[str] = "Merge"
    group: ClassVar[Group] = "Rows"
    icon: ClassVar[str] = "git-merge"
    inputs: ClassVar[tuple[Input, ...]] = (Input(kinds=("stream",), many=True),)

    strict: bool = Field(
        False,
        title="Same columns only",
        description="Refuse inputs whose columns differ, instead of filling in nulls.",
    )

    def faults(self, rows: list[Rows]) -> Iterator[Fault]:
        if not self.strict:
            return
        first = {name.lower(): name for name in rows[0].value_names}
        for other in rows[1:]:
            names = {name.lower(): name for name in other.value_names}
            for low in sorted(first.keys() ^ names.keys()):
                name = first.get(low) or names[low]
                yield "strict", f"Only one of the merged streams has a column {name}."

    def gives(self, rows: list[Rows]) -> Rows:
        columns: dict[str, Column] = {}
        for stream in rows:
            for column in stream.columns:
                columns.setdefault(column.name.lower(), column)
        return Rows("stream", tuple(columns.values()))

    def emit(self, rows: list[Rows]) -> str:
        first, *others = rows
        # Hidden columns may differ (a branch's, say) even where the values' may not.
        return str(first) + "".join(
            f".unionByName({other}, allowMissingColumns=True)" for other in others
        )
