from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, StringConstraints
from sqlglot import exp

from runner import sql
from runner.rows import PROVENANCE, Column, Rows
from runner.step_type import Fault, Group, Input, StepType, unknown_names


def _query(text: str) -> str:
    sql.read_query(text)
    return text


class SqlQuery(StepType):
    """Write a SELECT over the rows that flow in: each input is a table, named like its port,
    `rows` unless the query names others. It computes and filters rows, puts streams together
    with UNION ALL and joins lookup tables; what must remember rows has steps of its own."""

    type: ClassVar[str] = "sql"
    title: ClassVar[str] = "SQL"
    group: ClassVar[Group] = "Rows"
    icon: ClassVar[str] = "sql"
    inputs: ClassVar[tuple[Input, ...]] = (Input(kinds=("stream", "lookup")),)
    inputs_from: ClassVar[str | None] = "query"

    query: Annotated[
        str,
        StringConstraints(max_length=10_000),
        AfterValidator(_query),
        Field(json_schema_extra={"format": "sql"}),
    ] = Field(title="Query", examples=["SELECT user, amount * 2 AS twice FROM rows"])

    def input_ports(self) -> tuple[Input, ...]:
        names = sql.inputs_of_query(sql.read_query(self.query))
        return tuple(Input(name, kinds=("stream", "lookup")) for name in names)

    def faults(self, **inputs: Rows) -> Iterator[Fault]:
        if all(rows.kind == "lookup" for rows in inputs.values()):
            yield "query", "Only lookup tables flow in; draw a stream to this step."
        seen: set[str] = set()
        for column in self._columns(inputs):
            if not column.name:
                yield "query", "Give each computed column a name with AS."
            elif column.name.lower() in seen:
                yield "query", f"The name {column.name} is there twice; give one another with AS."
            seen.add(column.name.lower())
        for name in sql.aliases_of_query(sql.read_query(self.query)):
            if name.lower() in PROVENANCE:
                yield "query", f"{name} is a name Headrace uses itself; choose another."
        rows = self._one(inputs)
        if rows is not None:
            names = sql.columns_of_query(sql.read_query(self.query))
            for _, message in unknown_names(rows, sorted(names), "query"):
                yield "query", message

    def gives(self, **inputs: Rows) -> Rows:
        columns = self._columns(inputs)
        rows = self._one(inputs)
        if rows is None:
            return Rows("stream", columns, repeats=any(r.repeats for r in inputs.values()))
        hidden = self._hidden(columns, rows)
        return replace(rows, columns=(*columns, *(c for c in rows.columns if c.name in hidden)))

    def emit(self, **inputs: Rows) -> str:
        tree = sql.read_query(self.query)
        rows = self._one(inputs)
        if rows is not None and isinstance(tree, exp.Select):
            hidden = self._hidden(self._columns(inputs), rows)
            tree = tree.select(*(exp.column(name, quoted=True) for name in hidden))
        given = ", ".join(f"{name}={rows}" for name, rows in inputs.items())
        # The session of the rows: within a batch it is another than the program's.
        session = f"{next(iter(inputs.values()))}.sparkSession"
        return f"{session}.sql({sql.query_template(tree)!r}, {given})"

    @staticmethod
    def _hidden(columns: tuple[Column, ...], rows: Rows) -> list[str]:
        """What a row carries along unseen: its key, time and name."""
        seen = {column.name.lower() for column in columns}
        return [n for n in rows.names if n.startswith("_") and n.lower() not in seen]

    def _one(self, inputs: dict[str, Rows]) -> Rows | None:
        """The only input of a plain SELECT: each row is one of its rows, under its name."""
        plain = isinstance(sql.read_query(self.query), exp.Select)
        return next(iter(inputs.values())) if plain and len(inputs) == 1 else None

    def _columns(self, inputs: dict[str, Rows]) -> tuple[Column, ...]:
        tree = sql.read_query(self.query)
        while isinstance(tree, exp.Union):
            tree = tree.left
        columns: list[Column] = []
        for selected in tree.expressions:
            if isinstance(selected, exp.Star):
                columns += [c for rows in inputs.values() for c in rows.columns]
            elif isinstance(selected, exp.Column) and len(selected.parts) == 1:
                known = {c.name.lower(): c.type for rows in inputs.values() for c in rows.columns}
                columns.append(Column(selected.name, known.get(selected.name.lower())))
            else:
                columns.append(Column(selected.alias_or_name))
        return tuple(columns)
