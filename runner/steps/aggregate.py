from collections.abc import Iterator, Sequence
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
from runner.rows import DELETED, VERSION, Column, Rows
from runner.step_type import (
    Fault,
    Group,
    Input,
    State,
    StepType,
    repeated_names,
    reserved_groups,
    reserved_names,
    state_operator,
    time_faults,
    unknown_columns,
    unknown_names,
)
from runner.steps.record_key import key_text, with_group

# The hidden column of a result that is of all rows.
ALL = "_all"
# In how many hopping windows a row is at most where Spark's own are the faster ones.
FEW = 2


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
        """The column, as Python source."""
        if self.expression is None:
            return f"F.count('*').alias({self.name!r})"
        of = f"F.expr({rows.expression(self.expression)!r})"
        share = f", {self._share!r}" if self.function == "percentile" else ""
        call = f"F.{self._function}({of}{share})"
        if self.is_ordered and rows.lane and rows.version:
            of = rows.expression(self.expression)
            call = f"F.expr({self._in_order(of, rows.lane, rows.version, rows.order)!r})"
        return f"{call}.alias({self.name!r})"

    def call(self, rows: Rows) -> str:
        """The column, as SQL."""
        of = rows.expression(self.expression) if self.expression else "*"
        share = f", {self._share}" if self.function == "percentile" else ""
        return f"{self._function}({of}{share})"

    def _in_order(self, of: str, lane: Sequence[str], version: str, order: Sequence[str]) -> str:
        """The column by the order in which rows came, as SQL.

        A batch brings the rows of several partitions together in no order. Of one partition they
        are in that of their offsets, whatever time they claim; else in that of their times.
        """
        place, came = (", ".join(map(sql.quoted, names)) for names in (lane, order))
        at = sql.quoted(version)
        one = f"min(struct({place})) = max(struct({place}))"
        if self.function == "collect_list":
            found = f"collect_list(struct({came}, {of} AS value))"
            by_offset = f"transform({found}, row -> struct(row.{at}, row.value))"
            chosen = f"if({one}, sort_array({by_offset}).value, sort_array({found}).value)"
            return f"array_compact({chosen})"
        by = "min_by" if self.function == "first" else "max_by"
        return f"if({one}, {by}({of}, {at}), {by}({of}, struct({came})))"

    @property
    def is_ordered(self) -> bool:
        """Whether the result depends on the order of the rows: that in which they came."""
        return self.function in ("first", "last", "collect_list")

    @property
    def _function(self) -> str:
        return "approx_count_distinct" if self.function == "count_distinct" else self.function

    @property
    def _share(self) -> float:
        return 0.5 if self.percentage is None else self.percentage


class Window(Config):
    """How time is cut into windows."""

    kind: Literal["none", "tumbling", "hopping", "sliding", "session"] = Field(
        "none",
        title="Window",
        description="tumbling: one after the other; hopping: overlapping; sliding: one for each "
        "difference of times, as Kafka Streams has them; session: rows that follow each other.",
    )
    size: PositiveDuration | None = Field(None, title="Size")
    advance: PositiveDuration | None = Field(
        None, title="Advance", description="For hopping windows: how far apart they begin."
    )
    gap: PositiveDuration | None = Field(
        None, title="Gap", description="For sessions: how long nothing happens before one ends."
    )

    @model_validator(mode="after")
    def _sizes_that_fit(self) -> "Window":
        wanted = _MEASURES[self.kind]
        for name in ("size", "advance", "gap"):
            if getattr(self, name) and name not in wanted:
                kind = "no window" if self.kind == "none" else f"a {self.kind} window"
                raise ValueError(f"{name} means nothing for {kind}; leave it out.")
        for name in wanted:
            if not getattr(self, name):
                article = "an" if name == "advance" else "a"
                raise ValueError(f"A {self.kind} window needs {article} {name}.")
        if self.size and self.advance and milliseconds(self.advance) > milliseconds(self.size):
            raise ValueError("A hopping window can't advance by more than its size.")
        return self


_MEASURES: dict[str, tuple[str, ...]] = {
    "none": (),
    "tumbling": ("size",),
    "hopping": ("size", "advance"),
    "sliding": ("size",),
    "session": ("gap",),
}


class Aggregate(StepType):
    """Count, sum and summarise the rows of each group, over all time or in windows. Each change
    of a group's result is a new row of a table."""

    type: ClassVar[str] = "aggregate"
    title: ClassVar[str] = "Aggregate"
    group: ClassVar[Group] = "State"
    icon: ClassVar[str] = "sum"
    inputs: ClassVar[tuple[Input, ...]] = (Input(kinds=("stream",)),)

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
    emit_: Literal["updates", "final"] = Field(
        "updates",
        alias="emit",
        title="Emit",
        description="updates: each change at once; final: each window once, when it has closed.",
    )
    late: Literal["usual", "exact"] = Field(
        "usual",
        title="Late rows",
        description="exact: rows beyond grace are dropped batch by batch; runs in micro-batches.",
    )

    def faults(self, rows: Rows) -> Iterator[Fault]:
        yield from unknown_names(rows, self.group_by, "group_by")
        yield from reserved_groups(self.group_by)
        yield from repeated_names([a.name for a in self.aggregations], "aggregations")
        yield from reserved_names([a.name for a in self.aggregations], "aggregations")
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
            yield from time_faults(rows, self.time, "time")
        elif self.emit_ == "final":
            yield "emit", "Without a window nothing is ever final; choose a window, or updates."

    def gives(self, rows: Rows) -> Rows:
        groups = tuple(Column(name, rows.type_of(name)) for name in self.group_by)
        window = (Column("window", "struct<start:timestamp,end:timestamp>"),)
        results = tuple(
            Column(a.name, "bigint" if a.function.startswith("count") else None)
            for a in self.aggregations
        )
        hidden = [Column(VERSION, "bigint")]
        lane = self._key()
        if not lane:
            hidden.append(Column(ALL, "string"))
            lane = (ALL,)
        if self.by_operator:
            hidden.insert(0, Column(DELETED, "boolean"))
        columns = (window if self._windowed else ()) + groups + results
        key = self._key()
        if self.emit_ == "updates":
            return Rows("table", (*columns, *hidden), key=key, lane=lane, version=VERSION)
        final = Rows("stream", (*columns, *hidden), version=VERSION)
        named = (Column("_key", "string"), Column("_timestamp", "timestamp"))
        return final.with_columns(*named).grouped()

    def emit(self, rows: Rows) -> str:
        code = self._emit_by_operator(rows) if self.by_operator else self._emit_by_sql(rows)
        if self.emit_ == "updates":
            return code
        key = key_text(self.gives(rows), self._key())
        end = "F.col('window').getField('end')"
        return with_group(f"{code}.withColumns({{'_key': {key}, '_timestamp': {end}}})")

    def state(self, rows: Rows) -> State:
        return State(
            watermark=self._windowed,
            closes=not self.by_operator,
            appends=self.emit_ == "final" and not self.by_operator,
        )

    def batches_only(self) -> str | None:
        if self.late == "exact":
            return "late rows are told exactly only between batches"
        if self.emit_ == "final":
            return "its results come once, when their window has closed"
        return None

    def closes_at(self) -> str | None:
        if self.by_operator or not self.window.size:
            return None
        at = f"unix_millis({sql.quoted(self.time)})"
        every = milliseconds(self.window.advance or self.window.size)
        return f"{at} - pmod({at}, {every}) + {milliseconds(self.window.size)}"

    def _emit_by_sql(self, rows: Rows) -> str:
        groups = [self._group(name) for name in self.group_by]
        results = ", ".join(
            [*(a.emit(rows) for a in self.aggregations), f"F.count('*').alias({VERSION!r})"]
        )
        watermark = ""
        if self._windowed:
            time = sql.quoted(self.time)
            spans = ", ".join(repr(s) for s in (self.window.size, self.window.advance) if s)
            groups.insert(0, f"F.window({time!r}, {spans})")
            watermark = f".withWatermark({time!r}, {self.grace!r})"
        if not groups:
            # A group for all rows: Spark gives no row for it before there is one.
            groups.append(f"F.lit('all').alias({ALL!r})")
        return (
            f"{rows}{watermark}.groupBy({', '.join(groups)}).agg({results})\n"
            "# Always true, of all columns: what nobody reads, Spark leaves out of its state.\n"
            f".where({self._all_read!r})"
        )

    def _group(self, name: str) -> str:
        """A column to group by, as Python source."""
        quoted = sql.quoted(name)
        if not (self._windowed and name.lower() == self.time.lower()):
            return repr(quoted)
        # Beside the window it would be a second column with a watermark; a computed one has none.
        return f"F.expr({f'timestamp_micros(unix_micros({quoted}))'!r}).alias({name!r})"

    @property
    def _all_read(self) -> str:
        """What is true of each result and names all of its columns, as SQL.

        Without it Spark's optimizer takes a column that no sink reads out of the aggregation
        (ColumnPruning), and so out of the state: it could not be asked for, and the checkpoint
        would not fit as soon as somebody reads it.
        """
        names = ", ".join(sql.quoted(a.name) for a in self.aggregations)
        return f"{VERSION} > 0 OR to_json(struct({names})) = ''"

    def _emit_by_operator(self, rows: Rows) -> str:
        window = self.window
        return state_operator(
            f"{window.kind.capitalize()}Windows",
            rows,
            group_by=list(self.group_by),
            time=self.time,
            **{name: milliseconds(getattr(window, name)) for name in _MEASURES[window.kind]},
            grace=milliseconds(self.grace),
            results=[[a.name, a.call(rows)] for a in self.aggregations],
            emit=self.emit_,
            **rows.arrival,
        )

    def signature(self) -> object:
        kept = self.model_dump(mode="json", exclude={"grace", "emit_", "late"})
        # What the state has to remember differs where results come at the end only, where Spark
        # keeps it and not an operator, and where it has to know when rows came.
        more: list[str] = [self.emit_] if self.emit_ == "final" else []
        if self.window.kind == "hopping" and not self.by_operator and not more:
            more.append("by SQL")
        if not self.by_operator and any(a.is_ordered for a in self.aggregations):
            more.append("in order")
        return [kept, *more] if more else kept

    @property
    def _windowed(self) -> bool:
        return self.window.kind != "none"

    @property
    def by_operator(self) -> bool:
        """Whether Spark's SQL can't say these windows in update mode, or says them too slowly: it
        shuffles, looks up and writes each row once for each hopping window that it is in."""
        if self.window.kind == "hopping" and self.window.size and self.window.advance:
            windows = -(-milliseconds(self.window.size) // milliseconds(self.window.advance))
            return windows > FEW and self.batches_only() is None
        return self.window.kind in ("sliding", "session")

    def _key(self) -> tuple[str, ...]:
        return (("window",) if self._windowed else ()) + tuple(self.group_by)
