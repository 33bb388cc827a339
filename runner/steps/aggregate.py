from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from runner import sql
from runner.fields import (
    ColumnName,
    ColumnRef,
    Config,
    Duration,
    Expression,
    PositiveDuration,
    milliseconds,
)
from runner.rows import Column, Rows
from runner.step_type import (
    Fault,
    Group,
    Input,
    StepType,
    repeated_names,
    unknown_columns,
    unknown_names,
)

# Spark's name of each function, where it is another.
_FUNCTIONS = {"count_distinct": "approx_count_distinct", "first": "first", "last": "last"}


class Aggregation(Config):
    """A column of the result: a function over the rows of a group."""

    name: ColumnName = Field(title="Name")
    function: Literal[
        "count",
        "sum",
        "min",
        "max",
        "avg",
        "first",
        "last",
        "count_distinct",
        "collect_list",
        "collect_set",
        "stddev",
        "percentile",
    ] = Field("count", title="Function", description="count_distinct is approximate, within 5 %.")
    expression: Expression | None = Field(
        None, title="Of", description="What is aggregated; count without it counts rows."
    )
    percentage: float | None = Field(
        None, title="Percentage", description="For percentile: 0.5 is the median.", ge=0, le=1
    )

    @model_validator(mode="after")
    def _expression_where_needed(self) -> "Aggregation":
        if self.function != "count" and self.expression is None:
            raise ValueError(f"Say what to take the {self.function} of.")
        if self.percentage is not None and self.function != "percentile":
            raise ValueError("Only a percentile has a percentage.")
        return self

    def emit(self, rows: Rows) -> str:
        if self.expression is None:
            return f"F.count('*').alias({self.name!r})"
        of = f"F.expr({rows.expression(self.expression)!r})"
        if self.function == "percentile":
            share = 0.5 if self.percentage is None else self.percentage
            return f"F.percentile({of}, {share!r}).alias({self.name!r})"
        return f"F.{_FUNCTIONS.get(self.function, self.function)}({of}).alias({self.name!r})"


class Window(Config):
    """How time is cut into windows."""

    kind: Literal["none", "tumbling", "hopping"] = Field("none", title="Window")
    size: PositiveDuration | None = Field(None, title="Size")
    advance: PositiveDuration | None = Field(
        None, title="Advance", description="For hopping windows: how far apart they begin."
    )

    @model_validator(mode="after")
    def _sizes_that_fit(self) -> "Window":
        if self.kind != "none" and self.size is None:
            raise ValueError(f"A {self.kind} window needs a size.")
        if self.kind == "hopping":
            if self.advance is None:
                raise ValueError("A hopping window needs to know how far it advances.")
            if self.size and milliseconds(self.advance) > milliseconds(self.size):
                raise ValueError("A hopping window can't advance by more than its size.")
        if self.kind == "none" and (self.size or self.advance):
            raise ValueError("Choose tumbling or hopping, or leave out the size.")
        if self.kind == "tumbling" and self.advance:
            raise ValueError(
                "A tumbling window advances by its size; choose hopping, or leave it out."
            )
        return self


class Aggregate(StepType):
    """Count, sum and summarise the rows of each group, over all time or in windows. Each change
    of a group's result is a new row of a table."""

    type: ClassVar[str] = "aggregate"
    title: ClassVar[str] = "Aggregate"
    group: ClassVar[Group] = "State"
    icon: ClassVar[str] = "sum"
    inputs: ClassVar[tuple[Input, ...]] = (Input(kinds=("stream",)),)
    stateful: ClassVar[bool] = True

    group_by: list[ColumnRef] = Field(
        default_factory=list,
        title="Group by",
        max_length=50,
        json_schema_extra={"format": "columns"},
    )
    aggregations: list[Aggregation] = Field(title="Aggregations", min_length=1, max_length=100)
    window: Window = Field(Window(), title="Window")
    time: ColumnRef = Field("_timestamp", title="Time")
    grace: Duration = Field(
        "10 minutes",
        title="Grace",
        description="How late a row may be and still count in its window. Spark looks at the "
        "clock of the events between batches, so a later row may count until then.",
    )
    emit_: Literal["updates"] = Field(
        "updates", alias="emit", title="Emit", description="updates: each change at once."
    )

    def faults(self, rows: Rows) -> Iterator[Fault]:
        yield from unknown_names(rows, self.group_by, "group_by")
        yield from repeated_names([a.name for a in self.aggregations], "aggregations")
        taken = {name.lower() for name in self._key()}
        for i, aggregation in enumerate(self.aggregations):
            if aggregation.name.lower() in taken:
                message = f"{aggregation.name} is already a column of the key; choose another name."
                yield f"aggregations.{i}.name", message
            if aggregation.expression:
                field = f"aggregations.{i}.expression"
                yield from unknown_columns(rows, aggregation.expression, field)
        seen: set[str] = set()
        for i, name in enumerate(self.group_by):
            if name.lower() in seen or (self._windowed and name.lower() == "window"):
                yield f"group_by.{i}", f"{name} is already a column of the key; remove it."
            seen.add(name.lower())
        if self._windowed:
            yield from self._time_faults(rows)

    def gives(self, rows: Rows) -> Rows:
        groups = tuple(Column(name, rows.type_of(name)) for name in self.group_by)
        window = (Column("window", "struct<start:timestamp,end:timestamp>"),)
        results = tuple(
            Column(a.name, "bigint" if a.function.startswith("count") else None)
            for a in self.aggregations
        )
        columns = (window if self._windowed else ()) + groups + results
        return Rows("table", columns, key=self._key())

    def emit(self, rows: Rows) -> str:
        groups = [repr(sql.quoted(name)) for name in self.group_by]
        results = ", ".join(a.emit(rows) for a in self.aggregations)
        watermark = ""
        if self._windowed:
            time = sql.quoted(self.time)
            spans = ", ".join(repr(s) for s in (self.window.size, self.window.advance) if s)
            groups.insert(0, f"F.window({time!r}, {spans})")
            watermark = f".withWatermark({time!r}, {self.grace!r})"
        return f"{rows}{watermark}.groupBy({', '.join(groups)}).agg({results})"

    def signature(self) -> object:
        return self.model_dump(mode="json", exclude={"grace", "emit_"})

    @property
    def _windowed(self) -> bool:
        return self.window.kind != "none"

    def _key(self) -> tuple[str, ...]:
        return (("window",) if self._windowed else ()) + tuple(self.group_by)

    def _time_faults(self, rows: Rows) -> Iterator[Fault]:
        known = {c.name.lower(): c.type for c in rows.columns}
        if self.time.lower() not in known:
            hint = sql.suggestion(self.time, rows.names)
            yield "time", f"There is no column {self.time}. {hint}".strip()
        elif known[self.time.lower()] not in (None, "timestamp"):
            yield (
                "time",
                f"{self.time} is no timestamp; windows need one. Cast it before this step.",
            )
