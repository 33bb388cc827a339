from typing import ClassVar

from runner.rows import Rows
from runner.step_type import Foldable, Group


class Peek(Foldable):
    """Show the newest rows that pass here on the canvas. It changes nothing."""

    type: ClassVar[str] = "peek"
    title: ClassVar[str] = "Peek"
    group: ClassVar[Group] = "Rows"
    icon: ClassVar[str] = "eye"

    def gives(self, rows: Rows) -> Rows:
        return rows

    def emit(self, rows: Rows) -> str:
        return str(rows)

    def passes_columns(self) -> bool:
        return True

    def fold(self, rows: Rows) -> Rows:
        return rows

    def shows(self) -> bool:
        return True
