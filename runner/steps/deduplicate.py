from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from runner import sql
from runner.fields import ColumnRef, PositiveDuration, milliseconds
from runner.rows import Rows
from runner.step_type import (
    Fault,
    Group,
    Input,
    State,
    StepType,
    state_operator,
    time_faults,
    unknown_names,
)


class Deduplicate(StepType):
    """Let the first of several rows with equal columns pass and drop the others."""

    type: ClassVar[str] = "deduplicate"
    title: ClassVar[str] = "Deduplicate"
    group: ClassVar[Group] = "State"
    icon: ClassVar[str] = "copy-off"
    inputs: ClassVar[tuple[Input, ...]] = (Input(kinds=("stream",)),)

    columns: list[ColumnRef] = Field(
        title="Columns",
        description="Rows that are equal in these are repeats.",
        min_length=1,
        max_length=50,
        json_schema_extra={"format": "columns"},
    )
    within: PositiveDuration | None = Field(
        None,
        title="Within",
        description="A row counts anew when it is further than this from the one that passed. "
        "Without it each row passes once for ever, and all of them are remembered.",
    )
    time: ColumnRef = Field("_timestamp", title="Time")

    def faults(self, rows: Rows) -> Iterator[Fault]:
        yield from unknown_names(rows, self.columns, "columns")
        if self.within:
            yield from time_faults(rows, self.time, "time")

    def gives(self, rows: Rows) -> Rows:
        return rows.shuffled([])[0]

    def emit(self, rows: Rows) -> str:
        code = f"{rows}.dropDuplicates({self.columns!r})"
        if self.within is not None:
            code = state_operator(
                "Deduplicate",
                rows,
                columns=list(self.columns),
                time=self.time,
                within=milliseconds(self.within),
                **rows.arrival,
            )
        _, shuffled = rows.shuffled([repr(sql.quoted(name)) for name in self.columns])
        return f"{code}.select('*', {shuffled})"

    def passes_columns(self) -> bool:
        return self.within is None

    def state(self, rows: Rows) -> State:
        return State(watermark=self.within is not None)

    def signature(self) -> object:
        return [sorted(self.columns), self.within is None, self.time]
