"""What every step type declares, once, for the form, the checks, the plan and the program."""

import inspect
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, Literal

from runner import sql
from runner.fields import Config
from runner.rows import ARRIVED, DELETED, GROUP, PROVENANCE, VERSION, Column, Kind, Rows

Group = Literal["Sources", "Rows", "State", "Sinks"]

# What a step says of its own configuration: the field at fault, and the sentence.
Fault = tuple[str | None, str]


@dataclass(frozen=True)
class State:
    """What a step remembers, as far as the plan must know it.

    `watermark`: it goes by the time of events, of which a query has one clock. `closes`: Spark
    lets nothing stateful follow it in the same query. `appends`: each of its rows comes once.
    `keeps`: the columns of the rows that are kept whole. `loads`: a table that must be whole
    before the first row meets it.
    """

    watermark: bool = False
    closes: bool = False
    appends: bool = False
    keeps: tuple[Column, ...] = ()
    loads: bool = False


@dataclass(frozen=True)
class Input:
    """An input port: its name, the kinds of rows it takes, whether several edges may end there."""

    name: str = "rows"
    kinds: tuple[Kind, ...] = ("stream", "table")
    many: bool = False


class StepType(Config):
    """A kind of step. A subclass's fields are its form, its docstring its help in the palette.

    `emit` takes the rows of each input port under the port's name and returns the source of one
    PySpark expression: the step's DataFrame (for a Kafka sink, of its records).
    """

    type: ClassVar[str]
    title: ClassVar[str]
    group: ClassVar[Group]
    icon: ClassVar[str]
    inputs: ClassVar[tuple[Input, ...]] = (Input(),)
    outputs: ClassVar[tuple[str, ...]] = ("rows",)
    outputs_from: ClassVar[str | None] = None
    # The field that names the input ports, where they are not always the same.
    inputs_from: ClassVar[str | None] = None
    # Source that a program with such a step needs once.
    prelude: ClassVar[str] = ""
    real_time: ClassVar[bool] = True

    def emit(self, *args: Any, **kwargs: Any) -> str:
        raise NotImplementedError

    def gives(self, *args: Any, **kwargs: Any) -> Rows:
        """The kind, columns and key of what this step gives, from what it takes."""
        raise NotImplementedError

    def faults(self, *args: Any, **kwargs: Any) -> Iterator[Fault]:
        """What is wrong with this configuration, given what flows in."""
        yield from ()

    def input_ports(self) -> tuple[Input, ...]:
        """The input ports of a step configured like this."""
        return self.inputs

    def preamble(self, step: str) -> str:
        """Source that stands before the step's own statement in the program."""
        return ""

    def output_names(self) -> tuple[str, ...]:
        """The output ports of a step configured like this."""
        return self.outputs

    def output(self, rows: Rows, name: str | None) -> Rows:
        """The part of this step's rows that leaves by the output port `name`."""
        return rows

    def state(self, *args: Any, **kwargs: Any) -> State | None:
        """What the step remembers of the rows that flow in; None if nothing."""
        return None

    def closes_at(self) -> str | None:
        """When the last window that a row counts in ends, as SQL in milliseconds since 1970; None
        where rows that come later are not dropped, or counted one by one by whoever does."""
        return None

    def goes_through(self) -> str | None:
        """The topic that what this step gives must go by, None if it need not go by any."""
        return None

    def shows(self) -> bool:
        """Whether the newest rows that this step gives are shown in the browser."""
        return False

    def batches_only(self) -> str | None:
        """Why a step configured like this can't run in real-time mode, or None if it can."""
        return None

    def passes_columns(self) -> bool:
        """Whether all columns that flow in flow out, in their order and before any new one.

        True only where what `emit` gives depends on no column that it does not name: analysis
        then leaves the others out, and asks nothing anew when one of them changes.
        """
        return False

    def signature(self) -> object:
        """What of the configuration the step's state depends on: changed, the state starts anew."""
        return self.model_dump(mode="json")


class Source(StepType):
    """A step that rows come from."""

    group: ClassVar[Group] = "Sources"
    inputs: ClassVar[tuple[Input, ...]] = ()


class Sink(StepType):
    """A step that rows end in."""

    group: ClassVar[Group] = "Sinks"
    outputs: ClassVar[tuple[str, ...]] = ()

    def gives(self, rows: Rows) -> Rows:
        return rows


class Foldable(StepType):
    """A step that can also be said as conditions and column bindings over its input.

    Several sinks then share one query that reads its source once, in either mode.
    """

    def fold(self, rows: Rows) -> Rows:
        """These rows behind this step, without a DataFrame of their own."""
        raise NotImplementedError

    def folds(self) -> bool:
        """Whether that means the same: what is computed by chance would come out another way
        wherever it is written out."""
        return not any(map(sql.mentions_chance, _texts(self.model_dump())))


def _texts(value: Any) -> Iterator[str]:
    """All texts within a value, as they are: in JSON a line's end would be two characters."""
    match value:
        case str():
            yield value
        case dict():
            yield from chain.from_iterable(map(_texts, value.values()))
        case list() | tuple():
            yield from chain.from_iterable(map(_texts, value))


def state_operator(name: str, *inputs: Rows, **options: Any) -> str:
    """The source of a call of one of the state operators in `runner/operators/`."""
    given = [str(rows) for rows in inputs]
    given += [f"{key}={value!r}" for key, value in options.items()]
    return f"state_operator({name!r}, {', '.join(given)})"


def reserved_names(
    names: list[str], field: str, ours: Collection[str] = PROVENANCE
) -> Iterator[Fault]:
    """A fault for each name of ours: by default those that say where a row comes from."""
    for i, name in enumerate(names):
        if name.lower() in ours:
            yield f"{field}.{i}.name", f"{name} is a name Headrace uses itself; choose another."


def reserved_groups(names: list[str]) -> Iterator[Fault]:
    """A fault for each name to group by that the groups themselves have for something else."""
    for i, name in enumerate(names):
        if name.lower() in {ARRIVED, DELETED, VERSION, GROUP}:
            yield f"group_by.{i}", f"{name} is a name Headrace uses itself; remove it."


def unknown_columns(rows: Rows, expression: str, field: str) -> Iterator[Fault]:
    """A fault for each column that an expression reads and that does not flow in."""
    known = {name.lower() for name in rows.names}
    for name in sorted(sql.columns_of(expression)):
        if name.lower() not in known:
            yield field, f"There is no column {name}. {sql.suggestion(name, rows.names)}".strip()


def unknown_names(rows: Rows, names: list[str], field: str) -> Iterator[Fault]:
    """A fault for each name that is no column of the rows."""
    known = {name.lower() for name in rows.names}
    for i, name in enumerate(names):
        if name.lower() not in known:
            hint = sql.suggestion(name, rows.names)
            yield f"{field}.{i}", f"There is no column {name}. {hint}".strip()


def key_faults(rows: Rows, names: list[str]) -> Iterator[Fault]:
    """A fault for each name of a table's key that is no column of the rows, or is there twice."""
    yield from unknown_names(rows, names, "key")
    if len({name.lower() for name in names}) < len(names):
        yield "key", "A column is named twice; remove one."


def ddl(rows: Rows) -> str:
    """The columns with their types, as Spark reads a schema."""
    return ", ".join(f"{sql.quoted(c.name)} {c.type or 'string'}" for c in rows.columns)


def time_faults(rows: Rows, time: str, field: str) -> Iterator[Fault]:
    """A fault where a column is not there or is no time."""
    known = {c.name.lower(): c.type for c in rows.columns}
    if time.lower() not in known:
        hint = sql.suggestion(time, rows.names)
        yield field, f"There is no column {time}. {hint}".strip()
    elif known[time.lower()] not in (None, "timestamp"):
        yield field, f"{time} is no timestamp; this needs one. Cast it before this step."


def repeated_names(names: list[str], field: str) -> Iterator[Fault]:
    """A fault for each name that stands twice; Spark does not tell upper from lower case."""
    seen: set[str] = set()
    for i, name in enumerate(names):
        if name.lower() in seen:
            yield f"{field}.{i}.name", f"The name {name} is used twice; choose another."
        seen.add(name.lower())


def describe(step_type: type[StepType]) -> dict[str, Any]:
    """One entry of the catalogue: what the palette, the form and the canvas need of a step type."""
    schema = step_type.model_json_schema()
    schema.pop("description", None)
    return {
        "type": step_type.type,
        "title": step_type.title,
        "help": inspect.getdoc(step_type) or "",
        "group": step_type.group,
        "icon": step_type.icon,
        "inputs": [
            {"name": i.name, "kinds": list(i.kinds), "many": i.many} for i in step_type.inputs
        ],
        "outputs": list(step_type.outputs),
        "outputs_from": step_type.outputs_from,
        "inputs_from": step_type.inputs_from,
        "real_time": step_type.real_time,
        "schema": schema,
    }
