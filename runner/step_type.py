"""What every step type declares, once, for the form, the checks, the plan and the program."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from runner import sql
from runner.fields import Config
from runner.rows import Kind, Rows

Group = Literal["Sources", "Rows", "State", "Sinks"]

# What a step says of its own configuration: the field at fault, and the sentence.
Fault = tuple[str | None, str]


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
    stateful: ClassVar[bool] = False
    real_time: ClassVar[bool] = True

    def emit(self, *args: Any, **kwargs: Any) -> str:
        raise NotImplementedError

    def gives(self, *args: Any, **kwargs: Any) -> Rows:
        """The kind, columns and key of what this step gives, from what it takes."""
        raise NotImplementedError

    def faults(self, *args: Any, **kwargs: Any) -> Iterator[Fault]:
        """What is wrong with this configuration, given what flows in."""
        yield from ()

    def output_names(self) -> tuple[str, ...]:
        """The output ports of a step configured like this."""
        return self.outputs

    def output(self, rows: Rows, name: str | None) -> Rows:
        """The part of this step's rows that leaves by the output port `name`."""
        return rows

    def batches_only(self) -> str | None:
        """Why a step configured like this can't run in real-time mode, or None if it can."""
        return None

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
        "real_time": step_type.real_time,
        "schema": schema,
    }
