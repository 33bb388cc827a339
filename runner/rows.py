"""What flows on an edge."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from runner import sql

Kind = Literal["stream", "table", "lookup"]

# What every source adds to the columns of its value.
SOURCE_COLUMNS = {
    "_key": "string",
    "_timestamp": "timestamp",
    "_topic": "string",
    "_partition": "int",
    "_offset": "bigint",
    "_headers": "array<struct<key:string,value:binary>>",
}
# The largest of them, and the one that is wanted least.
HEADERS = "_headers"

# True in a row of a table that says its key is gone.
DELETED = "_deleted"
# Which change of its key a row of a table is: it only grows, also when a crash repeats rows.
VERSION = "_version"

# What key a row of a stream came by, as a hash of the key's text: later steps may leave the key's
# columns out or give them other values, and the text itself may have to be masked.
GROUP = "_group"

# When a row arrived: Kafka's time of the record it came by, whatever the time of its event.
ARRIVED = "_arrived"

# Columns that say where a row comes from. Steps that compute columns leave them alone.
PROVENANCE = {"_topic", "_partition", "_offset", ARRIVED, DELETED, VERSION, GROUP}

# Spark moves rows of equal keys to one place; rows of different ones may then overtake each other.
SHUFFLED = "_shuffled"


@dataclass(frozen=True)
class Column:
    """A column's name and its Spark type; the type is None where only Spark can tell it."""

    name: str
    type: str | None = None


@dataclass(frozen=True)
class Rows:
    """The rows on an edge: their kind, columns and key, and the DataFrame that holds them.

    `variable` is the Python expression of that DataFrame in the generated program; formatting
    a Rows into a string gives it. Where several sinks share one query, the steps on the way to
    each are no DataFrames of their own but `folded` into it: `bindings` then says what a column
    is worth in terms of the DataFrame's columns, and `conditions` which of its rows are meant.

    `lane` and `version` name a row, so that one that a crash repeats can be told: within a lane
    (the columns' values taken together) the version only grows. A row of a `sql` step may have
    no name. `repeats` is true where rows come by way of an internal topic, repeats and all.
    """

    kind: Kind
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    lane: tuple[str, ...] = ()
    version: str | None = None
    origins: frozenset[str] = frozenset()
    repeats: bool = False
    variable: str = ""
    folded: bool = False
    bindings: dict[str, str] = field(default_factory=dict)
    conditions: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.variable

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def value_names(self) -> tuple[str, ...]:
        """The columns that are a row's own: all but those that begin with an underscore."""
        return tuple(name for name in self.names if not name.startswith("_"))

    @property
    def has_deletions(self) -> bool:
        return DELETED in self.names

    def type_of(self, name: str) -> str | None:
        """A column's type; as to Spark, a name is the same in capitals and small letters."""
        return next((c.type for c in self.columns if c.name.lower() == name.lower()), None)

    def spelled(self, names: Sequence[str]) -> tuple[str, ...]:
        """Columns that somebody named, in the letters that they have here."""
        own = {name.lower(): name for name in self.names}
        return tuple(own.get(name.lower(), name) for name in names)

    def with_columns(self, *columns: Column) -> Self:
        """These rows with columns replaced, in whatever letters, or added at the end."""
        new = {column.name.lower(): column for column in columns}
        kept = tuple(new.pop(c.name.lower(), c) for c in self.columns)
        return replace(self, columns=kept + tuple(new.values()))

    def without(self, name: str) -> Self:
        """These rows without a column."""
        return replace(self, columns=tuple(c for c in self.columns if c.name != name))

    @property
    def is_named(self) -> bool:
        """Whether a row can be told from its repeat."""
        return bool(self.lane) or self.version is not None

    def shuffled(self, parts: list[str]) -> tuple["Rows", str]:
        """These rows once they were brought together by some columns, which splits their lanes.

        `parts` are the columns' sources; with the rows comes that of the hidden column that says
        in which part of its lane a row is.
        """
        name = SHUFFLED
        while name in self.names:
            name += "_"
        rows = replace(self.with_columns(Column(name, "bigint")), repeats=False)
        if self.lane:
            rows = replace(rows, lane=(*self.lane, name))
        return rows, f"F.xxhash64({', '.join(parts)}).alias({name!r})"

    def grouped(self) -> Self:
        """These rows named by the key that they have now; `with_group` gives the DataFrame."""
        return replace(self.with_columns(Column(GROUP, "bigint")), lane=(GROUP,))

    @property
    def condition(self) -> str:
        """All conditions as one, in SQL; empty where every row is meant."""
        if len(self.conditions) > 1:
            return " AND ".join(f"({condition})" for condition in self.conditions)
        return "".join(self.conditions)

    @property
    def order(self) -> list[str]:
        """The columns that say in which order the rows came, none where that is not known."""
        return [n for n in (ARRIVED, *self.lane, self.version) if n in self.names]

    @property
    def arrival(self) -> dict[str, Any]:
        """The same for a state operator: in which columns it is."""
        return {
            "arrived": ARRIVED if ARRIVED in self.names else None,
            "lane": [n for n in self.lane if n in self.names],
            "version": [n for n in (self.version,) if n in self.names],
        }

    def expression(self, text: str) -> str:
        """A user's expression over these rows, as SQL over the DataFrame's columns."""
        return sql.regenerate(text, self.bindings)

    def struct(self, names: Sequence[str]) -> str:
        """Some columns of these rows as one, as Python source."""
        columns = (self.column(n) if n in self.bindings else repr(sql.quoted(n)) for n in names)
        return f"F.struct({', '.join(columns)})"

    def column(self, name: str) -> str:
        """One column of these rows as Python source."""
        if name in self.bindings:
            return f"F.expr({self.bindings[name]!r}).alias({name!r})"
        return f"F.col({sql.quoted(name)!r})"
