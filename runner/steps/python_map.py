import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from runner.fields import TypedColumn
from runner.rows import Column, Rows
from runner.step_type import (
    Fault,
    Group,
    Input,
    StepType,
    ddl,
    repeated_names,
    reserved_names,
)
from runner.steps.python_code import arguments, inside, read_code


def _function(text: str) -> str:
    read_code(text, ast.FunctionDef)
    return text


# What Spark calls for each batch of rows; the same for all such steps of a program.
PRELUDE = '''
def call_for_each(make, place, schema, seconds=10):
    """For `mapInArrow`: a Python step's function, called for each row, for so long at most."""
    import os
    import signal

    import pyarrow
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    types = to_arrow_schema(StructType.fromDDL(schema), timezone="UTC")
    own = {name for name in types.names if name[0] != "_"}
    step = make.__name__.removesuffix("_function")

    def rows_of(function, row):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            given = function(row)
            rows = [given] if isinstance(given, dict) else list(given or ())
            for values in rows:
                if not isinstance(values, dict):
                    raise TypeError(f"It gave {values!r}, which is no dict.")
                # A row given back as it came has hidden columns, which stay what they are.
                if unknown := values.keys() - own - {n for n in row if n[0] == "_"}:
                    raise KeyError(f"It gave {sorted(unknown)}, which are no declared columns.")
            return rows
        except Exception as error:
            raise RuntimeError(f"step {step}: {type(error).__name__}: {error}") from error
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def batches_of(batches):
        def too_long(number, frame):
            raise TimeoutError(f"It took longer than {seconds} seconds for one row.")

        def fork():
            raise OSError("It may not fork: its copy would write rows, too.")

        signal.signal(signal.SIGALRM, too_long)
        os.fork = os.forkpty = fork
        function = make()
        for batch in batches:
            rows = []
            for row in batch.to_pylist():
                hidden = {name: value for name, value in row.items() if name[0] == "_"}
                for i, values in enumerate(rows_of(function, row)):
                    rows.append({**values, **hidden, place: i})
            try:
                given = pyarrow.RecordBatch.from_pylist(rows, schema=types)
            except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
                raise RuntimeError(f"step {step}: It gave another type: {error}") from error
            yield given

    return batches_of
'''


class PythonMap(StepType):
    """Call a Python function for each row, as a dict; it returns or yields the dicts of the
    rows to go on with: one, several or none. It runs in micro-batches."""

    type: ClassVar[str] = "python_map"
    title: ClassVar[str] = "Python"
    group: ClassVar[Group] = "Rows"
    icon: ClassVar[str] = "brand-python"
    inputs: ClassVar[tuple[Input, ...]] = (Input(kinds=("stream",)),)
    prelude: ClassVar[str] = PRELUDE
    real_time: ClassVar[bool] = False

    code: Annotated[str, AfterValidator(_function), Field(json_schema_extra={"format": "code"})] = (
        Field(
            title="Code",
            description="One function of one argument, the row.",
            examples=["def twice(row):\n    return {'x': row['x'] * 2}\n"],
        )
    )
    columns: list[TypedColumn] = Field(
        title="Columns", description="What the dicts have.", min_length=1, max_length=500
    )

    def faults(self, rows: Rows) -> Iterator[Fault]:
        yield from repeated_names([c.name for c in self.columns], "columns")
        yield from reserved_names([c.name for c in self.columns], "columns")
        if arguments(self.code) != 1:
            yield "code", "The function is called with one argument, the row."

    def gives(self, rows: Rows) -> Rows:
        own = tuple(Column(c.name, c.type) for c in self.columns)
        taken = {c.name.lower() for c in own}
        hidden = tuple(
            c
            for c in rows.columns
            if c.name.startswith("_") and c.type and c.name.lower() not in taken
        )
        given = replace(rows, columns=(*own, *hidden, Column(self._place(rows), "int")))
        return replace(given, lane=(*rows.lane, self._place(rows)) if rows.lane else ())

    def emit(self, rows: Rows, *, step: str) -> str:
        schema = ddl(self.gives(rows))
        call = f"call_for_each({step}_function, {self._place(rows)!r}, {schema!r})"
        return f"{rows}.mapInArrow({call}, {schema!r})"

    def batches_only(self) -> str | None:
        return "Spark calls Python only between batches"

    def preamble(self, step: str) -> str:
        name = read_code(self.code, ast.FunctionDef)
        return inside(f"{step}_function", self.code, name)

    def _place(self, rows: Rows) -> str:
        """The hidden column that says which row of its input row's this is."""
        name = "_place"
        while name in rows.names:
            name += "_"
        return name
