from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from runner.fields import ColumnRef
from runner.rows import DELETED, Column, Rows
from runner.step_type import Fault, unknown_names
from runner.steps.kafka_source import KafkaSource
from runner.steps.record_key import read_back


class KafkaTable(KafkaSource):
    """Read a compacted topic as a table: each record is the newest row of its key, and one
    without a value deletes its key."""

    type: ClassVar[str] = "kafka_table"
    title: ClassVar[str] = "Kafka table"
    icon: ClassVar[str] = "table"

    key: list[ColumnRef] = Field(
        default_factory=lambda: ["_key"],
        title="Key",
        description="The columns that name a row; else the records' key. Of a deletion they are "
        "read from the record's key: plain text of one column, a JSON object of several.",
        min_length=1,
        max_length=20,
        json_schema_extra={"format": "columns"},
    )

    def faults(self) -> Iterator[Fault]:
        yield from super().faults()
        yield from unknown_names(super().gives(), self.key, "key")
        if len({name.lower() for name in self.key}) < len(self.key):
            yield "key", "A column is named twice; remove one."

    def gives(self) -> Rows:
        rows = super().gives().with_columns(Column(DELETED, "boolean"))
        return replace(rows, kind="table", key=tuple(self.key))

    def signature(self) -> object:
        return [super().signature(), self.key]

    def good(self) -> str:
        return f"value IS NULL OR ({super().good()})"

    def bad(self) -> str:
        return f"value IS NOT NULL AND ({super().bad()})"

    def _mine(self, start: object) -> object:
        """Offsets, where some are given for its topics.

        A start that is for all sources is for streams: a table is what its whole topic says,
        wherever the streams beside it begin.
        """
        return super()._mine(start) if isinstance(start, dict) and "offsets" in start else None

    def _more(self) -> str:
        return f"F.col('value').isNull().alias({DELETED!r})"

    def value_of(self, name: str) -> str:
        value = super().value_of(name)
        types = {c.name: c.type or "string" for c in self.value_columns()}
        if name not in self.key:
            return value
        return f"F.coalesce({value}, {read_back(name, types[name], self.key)})"
