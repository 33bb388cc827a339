from dataclasses import replace
from typing import ClassVar

from runner.rows import GROUP, Column, Rows
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
        keyed = rows.with_columns(Column("_key", "string"), Column(GROUP, "bigint"))
        # Where the key names its rows, a later step could change it.
        lane = (GROUP,) if rows.lane == rows.key else rows.lane
        return replace(keyed, kind="stream", key=(), lane=lane)

    def emit(self, rows: Rows) -> str:
        columns = ", ".join(f"{n!r}: F.expr({of!r})" for n, of in self._new(rows).items())
        return f"{rows}.withColumns({{{columns}}})"

    def passes_columns(self) -> bool:
        return True

    def fold(self, rows: Rows) -> Rows:
        return replace(self.gives(rows), bindings={**rows.bindings, **self._new(rows)})

    def _new(self, rows: Rows) -> dict[str, str]:
        key = key_sql(rows, rows.key)
        return {"_key": key, GROUP: f"xxhash64({key})"}
