from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from runner.fields import ColumnName, Config, Expression
from runner.rows import Column, Rows
from runner.step_type import Fault, Foldable, Group, Input, repeated_names, unknown_columns

OTHERWISE = "otherwise"
# Which branch a row took, until another branch step says so anew.
TAKEN = "_branch"


class NamedCondition(Config):
    """A branch's name and the condition of the rows that take it."""

    name: ColumnName = Field(title="Name")
    condition: Expression = Field(title="Condition")


class Branch(Foldable):
    """Send each row one way: by the first condition that is true, else by `otherwise`."""

    type: ClassVar[str] = "branch"
    title: ClassVar[str] = "Branch"
    group: ClassVar[Group] = "Rows"
    icon: ClassVar[str] = "git-branch"
    inputs: ClassVar[tuple[Input, ...]] = (Input(kinds=("stream",)),)
    outputs_from: ClassVar[str | None] = "branches"

    branches: list[NamedCondition] = Field(title="Branches", min_length=1, max_length=50)

    def output_names(self) -> tuple[str, ...]:
        return (*(b.name for b in self.branches), OTHERWISE)

    def faults(self, rows: Rows) -> Iterator[Fault]:
        yield from repeated_names([b.name for b in self.branches], "branches")
        for i, branch in enumerate(self.branches):
            yield from unknown_columns(rows, branch.condition, f"branches.{i}.condition")
            if branch.name == OTHERWISE:
                yield f"branches.{i}.name", "otherwise is for all other rows; choose another name."

    def gives(self, rows: Rows) -> Rows:
        return rows.with_columns(Column(TAKEN, "string"))

    def emit(self, rows: Rows) -> str:
        return f"{rows}.withColumn({TAKEN!r}, {self._taken(rows)})"

    def output(self, rows: Rows, name: str | None) -> Rows:
        if rows.folded:
            taken = f"{rows.expression(TAKEN)} = {_text(name)}"
            return replace(rows, conditions=(*rows.conditions, taken))
        return replace(rows, variable=f"{rows}.where(F.col({TAKEN!r}) == {name!r})")

    def passes_columns(self) -> bool:
        return True

    def fold(self, rows: Rows) -> Rows:
        whens = " ".join(
            f"WHEN {rows.expression(b.condition)} THEN {_text(b.name)}" for b in self.branches
        )
        taken = f"CASE {whens} ELSE {_text(OTHERWISE)} END"
        return replace(self.gives(rows), bindings={**rows.bindings, TAKEN: taken})

    def _taken(self, rows: Rows) -> str:
        first, *others = (
            f"when(F.expr({rows.expression(b.condition)!r}), {b.name!r})" for b in self.branches
        )
        return ".".join([f"F.{first}", *others, f"otherwise({OTHERWISE!r})"])


def _text(name: str | None) -> str:
    escaped = (name or OTHERWISE).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
