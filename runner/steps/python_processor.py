import ast
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from runner import sql
from runner.fields import ColumnRef, Duration, TypedColumn
from runner.rows import VERSION, Column, Rows
from runner.step_type import (
    Fault,
    Group,
    Input,
    State,
    StepType,
    ddl,
    repeated_names,
    reserved_names,
    time_faults,
    unknown_names,
)
from runner.steps.python_code import inside, methods, read_code
from runner.steps.record_key import with_group


def _class(text: str) -> str:
    read_code(text, ast.ClassDef)
    return text


# What stands between Spark and the class that a person writes; once in a program.
PRELUDE = '''
class Processor(StatefulProcessor):
    """A Python step's class as a state operator: what it keeps and its timers, key by key."""

    def __init__(self, make, key, columns, event_time, arrival, seconds=10):
        self.make, self.key, self.columns, self.arrival = make, key, columns, arrival
        self.event_time, self.seconds = event_time, seconds

    def init(self, handle):
        import os
        import signal

        def too_long(number, frame):
            raise TimeoutError(f"It took longer than {self.seconds} seconds.")

        def fork():
            raise OSError("It may not fork: its copy would write rows, too.")

        signal.signal(signal.SIGALRM, too_long)
        os.fork = os.forkpty = fork
        self.handle = handle
        self.kept = handle.getMapState("kept", "name STRING", "value STRING")
        self.processor = self.make()()

    def handleInputRows(self, key, rows, timerValues):
        for row in as_they_came(rows, **self.arrival):
            self.now = self.time_of(row["_timestamp"], timerValues)
            yield from self.given(key, self.processor.on_row, row.asDict(True))

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        at = datetime.fromtimestamp(expiredTimerInfo.getExpiryTimeInMs() / 1000, UTC)
        self.now = at
        yield from self.given(key, self.processor.on_timer, at)

    def given(self, key, method, seen):
        import signal

        text, values = plain_key(dict(zip(self.key, key, strict=True)))
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        try:
            rows = list(method(values, seen, self, self) or ())
            for row in rows:
                if not isinstance(row, dict):
                    raise TypeError(f"It gave {row!r}, which is no dict.")
                if unknown := row.keys() - set(self.columns):
                    raise KeyError(f"It gave {sorted(unknown)}, which are no declared columns.")
        except Exception as error:
            step = self.make.__name__.removesuffix("_class")
            raise RuntimeError(f"step {step}: {type(error).__name__}: {error}") from error
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for row in rows:
            # Which row of the key it is: the same when a batch is run again.
            number = self.get("", 0) + 1
            self.put("", number)
            given = {name: row.get(name) for name in self.columns}
            yield Row(**given, _key=text, _version=number)

    def time_of(self, timestamp, timerValues):
        if self.event_time:
            return timestamp.astimezone(UTC)
        return datetime.fromtimestamp(timerValues.getCurrentProcessingTimeInMs() / 1000, UTC)

    # store: what is kept for the key, as JSON.
    def get(self, name, default=None):
        found = self.kept.getValue((name,)) if self.kept.containsKey((name,)) else None
        return default if found is None else json.loads(found[0])

    def put(self, name, value):
        self.kept.updateValue((name,), (json.dumps(value),))

    def delete(self, name):
        self.kept.removeKey((name,))

    # timers
    def at(self, moment):
        if isinstance(moment, datetime):
            moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        self.handle.registerTimer(int(moment * 1000))

    def after(self, seconds):
        self.at(self.now.timestamp() + seconds)


def as_they_came(rows, arrived, lane, version):
    """The rows of a lane by their version, lanes beside each other by when their rows arrived."""
    from heapq import merge

    def by(names):
        return lambda row: [(row[name] is not None, row[name]) for name in names]

    came = by([arrived] if arrived else [])
    lanes = {}
    for row in rows:
        lanes.setdefault(str([row[name] for name in lane]), []).append(row)
    for one in lanes.values():
        one.sort(key=by(version) if version else came)
    return merge(*lanes.values(), key=came)


def plain_key(key):
    """A key as a record has it, plain text of one column and JSON of several, and as code sees it:
    the value of one column, a dict of several."""
    if len(key) > 1:
        return json.dumps(key, default=str, ensure_ascii=False, separators=(",", ":")), key
    (value,) = key.values()
    if value is None or isinstance(value, str):
        return value, value
    return str(value).lower() if isinstance(value, bool) else str(value), value
'''


class PythonProcessor(StepType):
    """Write a Python class that sees the rows of each key one by one, keeps what it wants to
    know of the key and sets timers. It runs in micro-batches."""

    type: ClassVar[str] = "python_processor"
    title: ClassVar[str] = "Python processor"
    group: ClassVar[Group] = "State"
    icon: ClassVar[str] = "brand-python"
    inputs: ClassVar[tuple[Input, ...]] = (Input(kinds=("stream",)),)
    prelude: ClassVar[str] = PRELUDE
    real_time: ClassVar[bool] = False

    key: list[ColumnRef] = Field(
        title="Key", min_length=1, max_length=20, json_schema_extra={"format": "columns"}
    )
    columns: list[TypedColumn] = Field(
        title="Columns", description="What the dicts it yields have.", min_length=1, max_length=500
    )
    time: Literal["event", "processing"] = Field(
        "event", title="Time", description="What timers go by."
    )
    grace: Duration = Field(
        "10 minutes",
        title="Grace",
        description="With event time: how late a row may be, and so how late a timer comes.",
    )
    code: Annotated[str, AfterValidator(_class), Field(json_schema_extra={"format": "code"})] = (
        Field(
            title="Code",
            description="One class: on_row(self, key, row, store, timers) and, if wanted, "
            "on_timer(self, key, at, store, timers), each yielding dicts.",
            examples=[
                "class Numbered:\n"
                "    def on_row(self, key, row, store, timers):\n"
                "        number = store.get('number', 0) + 1\n"
                "        store.put('number', number)\n"
                "        yield {'number': number}\n"
            ],
        )
    )

    def faults(self, rows: Rows) -> Iterator[Fault]:
        yield from unknown_names(rows, self.key, "key")
        for i, name in enumerate(self.key):
            if (rows.type_of(name) or "").lower().startswith(("array", "map", "struct")):
                yield f"key.{i}", f"{name} is no plain value; make a text of it before (to_json)."
        yield from repeated_names([c.name for c in self.columns], "columns")
        yield from reserved_names([c.name for c in self.columns], "columns")
        yield from time_faults(rows, "_timestamp", "time")
        found = methods(self.code)
        for name, wanted, needed in (("on_row", 4, True), ("on_timer", 4, False)):
            if name not in found and needed:
                yield "code", f"The class needs a method {name}(self, key, row, store, timers)."
            elif name in found and found[name] != wanted:
                third = "row" if name == "on_row" else "at"
                yield "code", f"{name} is called as {name}(self, key, {third}, store, timers)."

    def gives(self, rows: Rows) -> Rows:
        return self._written().grouped()

    def emit(self, rows: Rows, *, step: str) -> str:
        event = self.time == "event"
        watermark = f".withWatermark('_timestamp', {self.grace!r})" if event else ""
        keys = ", ".join(repr(sql.quoted(name)) for name in self.key)
        columns = [c.name for c in self.columns]
        return with_group(
            f"""
            {rows}{watermark}
            .groupBy({keys})
            .transformWithState(
                Processor({step}_class, {self.key!r}, {columns!r}, {event}, {rows.arrival!r}),
                {ddl(self._written())!r},
                "Update",
                {("EventTime" if event else "ProcessingTime")!r},
            )"""
        )

    def state(self, rows: Rows) -> State:
        return State(watermark=self.time == "event")

    def signature(self) -> object:
        return [self.key, self.time]

    def batches_only(self) -> str | None:
        return "Spark calls Python only between batches"

    def _written(self) -> Rows:
        """The rows as `Processor` gives them."""
        own = tuple(Column(c.name, c.type) for c in self.columns)
        hidden = (Column("_key", "string"), Column(VERSION, "bigint"))
        return Rows("stream", own + hidden, version=VERSION)

    def preamble(self, step: str) -> str:
        return inside(f"{step}_class", self.code, read_code(self.code, ast.ClassDef))
