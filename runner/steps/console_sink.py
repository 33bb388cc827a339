from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from runner.rows import DELETED, Rows
from runner.step_type import Fault, Sink


class ConsoleSink(Sink):
    """Show the newest rows in the browser."""

    type: ClassVar[str] = "console_sink"
    title: ClassVar[str] = "Console"
    icon: ClassVar[str] = "terminal"

    rows: int = Field(20, title="Rows", description="How many of the newest to show.", ge=1, le=50)

    def faults(self, rows: Rows) -> Iterator[Fault]:
        if not rows.value_names:
            yield None, "There is no column to show."

    def emit(self, rows: Rows) -> str:
        return f"{rows}.select({self.row(rows)}.alias('value'))"

    def row(self, rows: Rows) -> str:
        """The row as JSON, as the Python source of a column."""
        names = [*rows.value_names, *([DELETED] if rows.has_deletions else [])]
        columns = ", ".join(rows.column(name) for name in names)
        return f"F.to_json(F.struct({columns}), {{'ignoreNullFields': 'false'}})"

    def signature(self) -> object:
        return None
