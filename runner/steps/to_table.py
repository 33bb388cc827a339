from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from runner.fields import ColumnRef
from runner.rows import Rows
from runner.step_type import Fault, Foldable, Group, Input, key_faults


class ToTable(Foldable):
    """Take each row as the newest of its key: a stream becomes a table."""

    type: ClassVar[str] = "to_table"
    title: ClassVar[str] = "To table"
    group: ClassVar[Group] = "State"
    icon: ClassVar[str] = "table-down"
    inputs: ClassVar[tuple[Input, ...]] = (Input(kinds=("stream",)),)

    key: list[ColumnRef] = Field(
        title="Key",
        description="The columns that name a row of the table.",
        min_length=1,
        max_length=20,
        json_schema_extra={"format": "columns"},
    )

    def faults(self, rows: Rows) -> Iterator[Fault]:
        yield from key_faults(rows, self.key)

    def gives(self, rows: Rows) -> Rows:
        return replace(rows, kind="table", key=rows.spelled(self.key))

    def emit(self, rows: Rows) -> str:
        return str(rows)

    def passes_columns(self) -> bool:
        return True

    def fold(self, rows: Rows) -> Rows:
        return self.gives(rows)
