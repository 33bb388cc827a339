from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from runner import sql
from runner.rows import VERSION, Column, Rows
from runner.step_type import Fault, Group, Input, StepType

# By which of the merged streams a row came.
WAY = "_way"
# The columns of a row's lane as one, where they differ from stream to stream.
LANE = "_lane"


class Merge(StepType):
    """Put the rows of several streams into one, column by column name."""

    type: ClassVar[str] = "merge"
    title: ClassVar[str] = "Merge"
    group: ClassVar[Group] = "Rows"
    icon: ClassVar[str] = "git-merge"
    inputs: ClassVar[tuple[Input, ...]] = (Input(kinds=("stream",), many=True),)

    strict: bool = Field(
        False,
        title="Same columns only",
        description="Refuse inputs whose columns differ, instead of filling in nulls.",
    )

    def faults(self, rows: list[Rows]) -> Iterator[Fault]:
        if not self.strict:
            return
        first = {name.lower(): name for name in rows[0].value_names}
        for other in rows[1:]:
            names = {name.lower(): name for name in other.value_names}
            for low in sorted(first.keys() ^ names.keys()):
                name = first.get(low) or names[low]
                yield "strict", f"Only one of the merged streams has a column {name}."

    def gives(self, rows: list[Rows]) -> Rows:
        columns: dict[str, Column] = {}
        for stream in self._named(rows):
            for column in stream.columns:
                columns.setdefault(column.name.lower(), column)
        lane, version = self._names(rows)
        return Rows(
            "stream",
            tuple(columns.values()),
            lane=lane,
            version=version,
            origins=frozenset().union(*(stream.origins for stream in rows)),
            repeats=any(stream.repeats for stream in rows),
        )

    def emit(self, rows: list[Rows]) -> str:
        first, *others = self._named(rows)
        # Hidden columns may differ (a branch's, say) even where the values' may not.
        return str(first) + "".join(
            f".unionByName({other}, allowMissingColumns=True)" for other in others
        )

    def _names(self, rows: list[Rows]) -> tuple[tuple[str, ...], str | None]:
        if not all(stream.is_named for stream in rows):
            return (), None
        if _tell_apart(rows):
            return rows[0].lane, rows[0].version
        return (WAY, LANE), VERSION

    def _named(self, rows: list[Rows]) -> list[Rows]:
        """The streams with equal columns that name a row: which way it came, its lane, version.

        One row may come by several ways, by branches, say, and is then several rows.
        """
        lane, _ = self._names(rows)
        if WAY not in lane or _tell_apart(rows):
            return rows
        named = []
        for i, stream in enumerate(rows):
            way = f"F.lit({str(i)!r})"
            if WAY in stream.names:
                way = f"F.concat_ws('/', {way}, {WAY!r})"
            parts = ", ".join(repr(sql.quoted(name)) for name in stream.lane if name != WAY)
            together = f"F.to_json(F.struct({parts}))" if parts else "F.lit('{}')"
            version = f"F.col({stream.version!r})" if stream.version else "F.lit(0)"
            code = (
                f"{stream}.withColumns({{{WAY!r}: {way}, {LANE!r}: {together}, "
                f"{VERSION!r}: {version}}})"
            )
            columns = (Column(WAY, "string"), Column(LANE, "string"), Column(VERSION, "bigint"))
            named.append(replace(stream.with_columns(*columns), variable=code))
        return named


def _tell_apart(rows: list[Rows]) -> bool:
    """Whether the streams' own names already differ: they come from different topics."""
    names = {(stream.lane, stream.version) for stream in rows}
    origins = [stream.origins for stream in rows]
    together = frozenset().union(*origins)
    return len(names) == 1 and all(origins) and len(together) == sum(map(len, origins))
