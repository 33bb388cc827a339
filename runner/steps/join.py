from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from runner import sql
from runner.fields import ColumnName, ColumnRef, Config
from runner.rows import Column, Rows
from runner.step_type import Fault, Group, Input, StepType, unknown_names


class Pair(Config):
    """A column of each side that must be equal."""

    left: ColumnRef = Field(title="Left")
    right: ColumnRef = Field(title="Right")


class Prefixes(Config):
    """What goes before the names of columns that both sides have."""

    left: ColumnName | None = Field(None, title="Left")
    right: ColumnName | None = Field(None, title="Right")


class Join(StepType):
    """Add to each row on the left what a lookup table has on the right for the same columns."""

    type: ClassVar[str] = "join"
    title: ClassVar[str] = "Join"
    group: ClassVar[Group] = "State"
    icon: ClassVar[str] = "arrows-join"
    inputs: ClassVar[tuple[Input, ...]] = (Input("left"), Input("right", kinds=("lookup",)))

    kind: Literal["inner", "left"] = Field(
        "inner", title="Kind", description="left: rows without a match stay, with nulls."
    )
    on: list[Pair] = Field(title="On", min_length=1, max_length=20)
    prefixes: Prefixes = Field(
        Prefixes(), title="Prefixes", description="For other columns of equal name."
    )

    def faults(self, left: Rows, right: Rows) -> Iterator[Fault]:
        for i, pair in enumerate(self.on):
            for side, rows, name in (("left", left, pair.left), ("right", right, pair.right)):
                for _, message in unknown_names(rows, [name], "on"):
                    yield f"on.{i}.{side}", f"On the {side}: {message}"
            types = left.type_of(pair.left), right.type_of(pair.right)
            if all(types) and not _comparable(*(str(t).upper() for t in types)):
                yield (
                    f"on.{i}",
                    (
                        f"{pair.left} is {types[0]} and {pair.right} is {types[1]}; "
                        "cast one of them before the join."
                    ),
                )
        if any(unknown_names(left, [p.left for p in self.on], "on")):
            return
        names = [column.name for column in self._columns(left, right)]
        seen: set[str] = set()
        for name in names:
            if name.lower() in seen:
                yield "prefixes", f"Both sides have a column {name}; give one side a prefix."
            seen.add(name.lower())
        if left.kind == "table":
            renamed = self._renamed(left, right)
            for name in left.key:
                if renamed.get(name.lower(), name) != name:
                    yield "prefixes.left", f"{name} is the table's key and keeps its name."

    def gives(self, left: Rows, right: Rows) -> Rows:
        return Rows(left.kind, self._columns(left, right), key=left.key)

    def emit(self, left: Rows, right: Rows) -> str:
        renames = self._renamed(left, right)
        condition = " AND ".join(
            f"left.{sql.quoted(p.left)} = right.{sql.quoted(p.right)}" for p in self.on
        )
        columns = [_column("left", n, renames.get(n.lower(), n)) for n in left.names]
        columns += [
            _column("right", n, self._right_name(left, n)) for n in self._added(left, right)
        ]
        return f"""
            {left}.alias("left")
            .join(F.broadcast({right}.alias("right")), F.expr({condition!r}), {self.kind!r})
            .select({", ".join(columns)})
        """

    def _added(self, left: Rows, right: Rows) -> list[str]:
        once = {p.right.lower() for p in self.on if p.left.lower() == p.right.lower()}
        return [n for n in right.value_names if n.lower() not in once]

    def _columns(self, left: Rows, right: Rows) -> tuple[Column, ...]:
        renames = self._renamed(left, right)
        lefts = (Column(renames.get(c.name.lower(), c.name), c.type) for c in left.columns)
        added = (
            Column(self._right_name(left, n), right.type_of(n)) for n in self._added(left, right)
        )
        return (*lefts, *added)

    def _renamed(self, left: Rows, right: Rows) -> dict[str, str]:
        """The columns of the left, in lower case, that the left's prefix gives another name."""
        if not self.prefixes.left:
            return {}
        clashing = {n.lower() for n in self._added(left, right)}
        return {
            n.lower(): self.prefixes.left + n for n in left.value_names if n.lower() in clashing
        }

    def _right_name(self, left: Rows, name: str) -> str:
        clashes = name.lower() in {n.lower() for n in left.names}
        return (self.prefixes.right or "") + name if clashes else name


def _column(side: str, name: str, as_: str) -> str:
    column = f"F.col({f'{side}.{sql.quoted(name)}'!r})"
    return column if name == as_ else f"{column}.alias({as_!r})"


_NUMBERS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL")


def _comparable(left: str, right: str) -> bool:
    same = left.split("(")[0] == right.split("(")[0]
    return same or all(t.split("(")[0] in _NUMBERS for t in (left, right))
