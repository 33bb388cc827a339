from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field

from runner import sql
from runner.fields import ColumnName, ColumnRef, Config, Duration, milliseconds
from runner.rows import ARRIVED, DELETED, VERSION, Column, Rows
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


class Pair(Config):
    """A column of each side that must be equal."""

    left: ColumnRef = Field(title="Left")
    right: ColumnRef = Field(title="Right")


class Prefixes(Config):
    """What goes before the names of columns that both sides have."""

    left: ColumnName | None = Field(None, title="Left")
    right: ColumnName | None = Field(None, title="Right")


class Within(Config):
    """How far apart in time two events may be: the right one from `before` to `after` the left."""

    before: Duration = Field("0 seconds", title="Before")
    after: Duration = Field("0 seconds", title="After")


class Join(StepType):
    """Bring two inputs together where columns are equal. A stream meets the newest row of a
    table or lookup table; a table and a table give a new row whenever either changes; a stream
    meets the rows of another within a time."""

    type: ClassVar[str] = "join"
    title: ClassVar[str] = "Join"
    group: ClassVar[Group] = "State"
    icon: ClassVar[str] = "arrows-join"
    inputs: ClassVar[tuple[Input, ...]] = (
        Input("left"),
        Input("right", kinds=("stream", "table", "lookup")),
    )

    kind: Literal["inner", "left", "full"] = Field(
        "inner",
        title="Kind",
        description="left: rows of the left without a match stay; full: those of both sides do.",
    )
    on: list[Pair] = Field(title="On", min_length=1, max_length=20)
    within: Within | None = Field(
        None, title="Within", description="For two streams: how far apart in time."
    )
    grace: Duration = Field(
        "10 minutes",
        title="Grace",
        description="For two streams: how late a row may be and still find its match.",
    )
    prefixes: Prefixes = Field(
        Prefixes(), title="Prefixes", description="For other columns of equal name."
    )

    def faults(self, left: Rows, right: Rows) -> Iterator[Fault]:
        unknown = False
        for i, pair in enumerate(self.on):
            for side, rows, name in (("left", left, pair.left), ("right", right, pair.right)):
                for _, message in unknown_names(rows, [name], "on"):
                    unknown = True
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
        if unknown:
            return
        yield from self._kind_faults(left, right)
        yield from self._name_faults(left, right)

    def gives(self, left: Rows, right: Rows) -> Rows:
        columns = tuple(column for column, _ in self._columns(left, right))
        if _with_lookup(right):
            return replace(left, columns=columns)
        if left.kind == "table":
            key = left.spelled([pair.left for pair in self.on])
            return Rows("table", columns, key=key, lane=key, version=VERSION)
        if right.kind == "table":
            return replace(left.shuffled([])[0], columns=columns)
        names = tuple(c.name for c, _ in self._names_of_both(left, right))
        return Rows("stream", columns, lane=names if left.version and right.version else ())

    def emit(self, left: Rows, right: Rows) -> str:
        columns = ", ".join(code for _, code in self._columns(left, right))
        if not _with_lookup(right):
            return f"{self._operator(left, right)}.select({columns})"
        condition = " AND ".join(
            f"left.{sql.quoted(p.left)} = right.{sql.quoted(p.right)}" for p in self.on
        )
        found, kind = f'{right}.alias("right")', self.kind
        if left.kind == "table":
            # A row that finds nothing any more is a deletion, so it must not get lost.
            found = f'{right}.withColumn("_found", F.lit(True)).alias("right")'
            kind = "left"
        return f"""
            {left}.alias("left")
            .join(F.broadcast({found}), F.expr({condition!r}), {kind!r})
            .select({columns})
        """

    def state(self, left: Rows, right: Rows) -> State | None:
        if _with_lookup(right):
            return None
        streams = left.kind == right.kind == "stream"
        loads = left.kind == "stream" and right.kind == "table"
        left, right = self._as_kept(left, right)
        return State(
            watermark=streams,
            keeps=right.columns if loads else (*left.columns, *right.columns),
            loads=loads,
        )

    def batches_only(self) -> str | None:
        if self.within and self.kind != "inner":
            return (
                "rows without a match come out when the time for one has passed, which "
                "real-time mode sees only every two minutes"
            )
        return None

    def signature(self) -> object:
        return self.model_dump(mode="json", exclude={"grace", "prefixes"})

    def _operator(self, left: Rows, right: Rows) -> str:
        on = [[pair.left, pair.right] for pair in self.on]
        left, right = self._as_kept(left, right)
        if left.kind == "table":
            return state_operator(
                "JoinTables",
                left,
                right,
                on=on,
                kind=self.kind,
                arrived=ARRIVED,
                left=_changes(left),
                right=_changes(right),
            )
        if right.kind == "table":
            return state_operator(
                "JoinStreamTable",
                left,
                right,
                on=on,
                kind=self.kind,
                arrived=ARRIVED,
                **_changes(right),
                left=_lane(left),
            )
        within = self.within or Within()
        return state_operator(
            "JoinStreams",
            left,
            right,
            on=on,
            kind=self.kind,
            left_time="_timestamp",
            right_time="_timestamp",
            before=milliseconds(within.before),
            after=milliseconds(within.after),
            grace=milliseconds(self.grace),
        )

    def _as_kept(self, left: Rows, right: Rows) -> tuple[Rows, Rows]:
        """Both sides as the operator keeps them; a stream that meets a table goes through whole."""
        kept = _kept(right, [pair.right for pair in self.on])
        if left.kind == "stream" and right.kind == "table":
            return left, kept
        return _kept(left, [pair.left for pair in self.on]), kept

    def _kind_faults(self, left: Rows, right: Rows) -> Iterator[Fault]:
        streams = left.kind == right.kind == "stream"
        if left.kind == "table" and right.kind == "stream":
            yield "left", "Draw the stream to the left and the table to the right."
            return
        if self.kind == "full" and (_with_lookup(right) or left.kind != right.kind):
            yield "kind", "Only two streams or two tables can be joined in full; choose left."
        if streams:
            if self.within is None:
                yield "within", "Say how far apart in time rows of the two streams may be."
            for side, rows in (("left", left), ("right", right)):
                for _, message in time_faults(rows, "_timestamp", side):
                    yield side, f"On the {side}: {message}"
        elif self.within is not None:
            yield "within", "Only two streams are joined within a time; leave this out."
        if right.kind == "table":
            yield from self._key_faults("right", right, [p.right for p in self.on])
        if left.kind == "table" and right.kind == "table":
            yield from self._key_faults("left", left, [p.left for p in self.on])

    def _key_faults(self, side: str, rows: Rows, named: list[str]) -> Iterator[Fault]:
        key = ", ".join(rows.key)
        if sorted(n.lower() for n in named) != sorted(n.lower() for n in rows.key):
            yield (
                "on",
                f"The table on the {side} is joined by its key ({key}), whole. To join it by "
                "other columns, make it a stream and a table with that key before.",
            )

    def _name_faults(self, left: Rows, right: Rows) -> Iterator[Fault]:
        seen: set[str] = set()
        for column, _ in self._columns(left, right):
            if column.name.lower() in seen:
                yield (
                    "prefixes",
                    f"Both sides have a column {column.name}; give one side a prefix.",
                )
            seen.add(column.name.lower())
        if left.kind == "table":
            renamed = self._renamed(left, right)
            for name in left.key:
                if renamed.get(name.lower(), name) != name:
                    yield "prefixes.left", f"{name} is the table's key and keeps its name."

    def _columns(self, left: Rows, right: Rows) -> list[tuple[Column, str]]:
        """The columns of the result, each with its Python source."""
        renames, once = self._renamed(left, right), self._once()
        outer = self.kind == "full"
        given: list[tuple[Column, str]] = []
        for column in left.columns:
            name, low = renames.get(column.name.lower(), column.name), column.name.lower()
            if self._is_hidden(left, right, column.name):
                continue
            code = _part("left", column.name)
            pair = next((p for p in self.on if p.left.lower() == low), None)
            if outer and pair and (low in once or left.kind == "table"):
                code = f"F.coalesce({code}, {_part('right', pair.right)})"
                given.append((Column(name, column.type), f"{code}.alias({name!r})"))
            elif left.kind == "table" and _with_lookup(right) and column.name == DELETED:
                continue
            else:
                alias = "" if column.name == name else f".alias({name!r})"
                given.append((Column(name, column.type), code + alias))
        for column in right.columns:
            if column.name.startswith("_") or column.name.lower() in once:
                continue
            name = self._right_name(left, column.name)
            alias = "" if column.name == name else f".alias({name!r})"
            given.append((Column(name, column.type), _part("right", column.name) + alias))
        return given + self._hidden(left, right)

    def _is_hidden(self, left: Rows, right: Rows, name: str) -> bool:
        """Whether a column of the left is one that the joined rows have anew, or not at all."""
        if _with_lookup(right) or (right.kind == "table" and left.kind == "stream"):
            return False
        return name.startswith("_") and name not in {p.left for p in self.on}

    def _hidden(self, left: Rows, right: Rows) -> list[tuple[Column, str]]:
        if _with_lookup(right):
            if left.kind != "table" or (self.kind == "left" and not left.has_deletions):
                return []
            gone = ["left._deleted"] if left.has_deletions else []
            gone += ["right._found IS NULL"] if self.kind == "inner" else []
            code = f"F.expr({' OR '.join(gone)!r}).alias({DELETED!r})"
            return [(Column(DELETED, "boolean"), code)]
        if left.kind == "table":
            return [
                (Column(DELETED, "boolean"), f"F.col({DELETED!r})"),
                (Column(VERSION, "bigint"), f"F.col({VERSION!r})"),
            ]
        if right.kind == "table":
            rows, code = left.shuffled([_part("left", p.left) for p in self.on])
            return [(rows.columns[-1], code)]
        hidden = [(Column("_timestamp", "timestamp"), "F.col('_timestamp')")]
        if "_key" in left.names and not any("_key" in (p.left, p.right) for p in self.on):
            key = _part("left", "_key")
            if "_key" in right.names:
                key = f"F.coalesce({key}, {_part('right', '_key')})"
            hidden.append((Column("_key", "string"), f"{key}.alias('_key')"))
        return hidden + self._names_of_both(left, right)

    def _names_of_both(self, left: Rows, right: Rows) -> list[tuple[Column, str]]:
        """Of two streams: the columns that name the rows of which a row was joined."""
        named = []
        for side, rows in (("left", left), ("right", right)):
            for name in (*rows.lane, *([rows.version] if rows.version else [])):
                as_ = f"_{side}{name}"
                named.append(
                    (Column(as_, rows.type_of(name)), f"{_part(side, name)}.alias({as_!r})")
                )
        return named

    def _once(self) -> set[str]:
        return {p.right.lower() for p in self.on if p.left.lower() == p.right.lower()}

    def _renamed(self, left: Rows, right: Rows) -> dict[str, str]:
        """The columns of the left, in lower case, that the left's prefix gives another name."""
        if not self.prefixes.left:
            return {}
        once = self._once()
        clashing = {n.lower() for n in right.value_names if n.lower() not in once}
        return {
            n.lower(): self.prefixes.left + n for n in left.value_names if n.lower() in clashing
        }

    def _right_name(self, left: Rows, name: str) -> str:
        clashes = name.lower() in {n.lower() for n in left.names}
        return (self.prefixes.right or "") + name if clashes else name


def _with_lookup(right: Rows) -> bool:
    return right.kind == "lookup"


def _kept(rows: Rows, on: list[str]) -> Rows:
    """The rows of a side without the hidden columns that need not be remembered."""
    needed = {*on, *rows.lane, rows.version, ARRIVED}
    needed |= {DELETED} if rows.kind == "table" else {"_key", "_timestamp"}
    columns = tuple(c for c in rows.columns if not c.name.startswith("_") or c.name in needed)
    if columns == rows.columns:
        return rows
    names = ", ".join(repr(sql.quoted(column.name)) for column in columns)
    return replace(rows, columns=columns, variable=f"{rows}.select({names})")


def _changes(table: Rows) -> dict[str, object]:
    """What an operator must know of a table's rows: deletions, and which row is the newer."""
    return {"deleted": DELETED if table.has_deletions else None, **_lane(table)}


def _lane(rows: Rows) -> dict[str, object]:
    """Which row of a side came before another."""
    if not rows.version:
        return {"lane": [], "version": []}
    return {"lane": list(rows.lane), "version": [rows.version]}


def _part(side: str, name: str) -> str:
    return f"F.col({f'{side}.{sql.quoted(name)}'!r})"


_NUMBERS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL")


def _comparable(left: str, right: str) -> bool:
    same = left.split("(")[0] == right.split("(")[0]
    return same or all(t.split("(")[0] in _NUMBERS for t in (left, right))
