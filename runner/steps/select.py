from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field

from runner import sql
from runner.fields import NamedExpression
from runner.rows import Column, Rows
from runner.step_type import Fault, Foldable, Group, repeated_names, reserved_names, unknown_columns


class Select(Foldable):
    """Compute, rename, cast or drop columns: each listed column is worth its expression."""

    type: ClassVar[str] = "select"
    title: ClassVar[str] = "Select columns"
    group: ClassVar[Group] = "Rows"
    icon: ClassVar[str] = "columns"

    columns: list[NamedExpression] = Field(title="Columns", min_length=1, max_length=500)
    keep: Literal["all", "listed"] = Field(
        "all",
        title="Keep",
        description="all: the other columns stay; listed: only these, and those that begin with _.",
    )

    def faults(self, rows: Rows) -> Iterator[Fault]:
        yield from repeated_names([c.name for c in self.columns], "columns")
        yield from reserved_names([c.name for c in self.columns], "columns")
        for i, column in enumerate(self.columns):
            yield from unknown_columns(rows, column.expression, f"columns.{i}.expression")
        listed = {c.name.lower() for c in self.columns}
        for name in rows.key if self.keep == "listed" else ():
            if name.lower() not in listed and not name.startswith("_"):
                yield "columns", f"{name} is the table's key and must stay; add it to the list."
        yield from self._key_faults(rows)

    def _key_faults(self, rows: Rows) -> Iterator[Fault]:
        """A deletion has no columns but its key: all else in a new key would be null."""
        key = {name.lower() for name in rows.key}
        for i, column in enumerate(self.columns):
            others = sorted(n for n in sql.columns_of(column.expression) if n.lower() not in key)
            if column.name.lower() in key and others:
                yield (
                    f"columns.{i}.expression",
                    (
                        f"{column.name} is the table's key, so it can't be made of {others[0]}, "
                        "which a deletion doesn't have; choose another name, or put To stream "
                        "before this step and To table behind it."
                    ),
                )

    def gives(self, rows: Rows) -> Rows:
        named = [Column(c.name, self._type(rows, c.expression)) for c in self.columns]
        if self.keep == "all":
            given = rows.with_columns(*named)
        else:
            given = replace(rows, columns=(*named, *self._hidden(rows)))
        return replace(given, key=given.spelled(rows.key), lane=given.spelled(rows.lane))

    def emit(self, rows: Rows) -> str:
        if self.keep == "all":
            pairs = (f"{c.name!r}: F.expr({rows.expression(c.expression)!r})" for c in self.columns)
            return f"{rows}.withColumns({{{', '.join(pairs)}}})"
        columns = [
            f"F.expr({rows.expression(c.expression)!r}).alias({c.name!r})" for c in self.columns
        ]
        columns += [rows.column(column.name) for column in self._hidden(rows)]
        return f"{rows}.select({', '.join(columns)})"

    def _hidden(self, rows: Rows) -> list[Column]:
        """The columns that stay though they are not listed."""
        listed = {c.name.lower() for c in self.columns}
        hidden = (c for c in rows.columns if c.name.startswith("_"))
        return [c for c in hidden if c.name.lower() not in listed]

    def passes_columns(self) -> bool:
        return self.keep == "all"

    def fold(self, rows: Rows) -> Rows:
        new = {c.name: rows.expression(c.expression) for c in self.columns}
        return replace(self.gives(rows), bindings={**rows.bindings, **new})

    @staticmethod
    def _type(rows: Rows, expression: str) -> str | None:
        return next(
            (c.type for c in rows.columns if sql.quoted(c.name) == expression.strip()), None
        )
