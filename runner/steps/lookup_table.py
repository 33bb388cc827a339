from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from runner import sql
from runner.fields import ColumnRef, PositiveDuration, milliseconds
from runner.rows import Column, Rows
from runner.step_type import Fault, unknown_names
from runner.steps.kafka_records import KafkaRecords


class LookupTable(KafkaRecords):
    """A whole table that every worker has, from a compacted topic: the newest row of each key.
    A record without a value deletes its key. Join it on any columns."""

    type: ClassVar[str] = "lookup_table"
    title: ClassVar[str] = "Lookup table"
    icon: ClassVar[str] = "table-import"

    from_: Literal["topic"] = Field("topic", alias="from", title="From")
    key: list[ColumnRef] = Field(
        default_factory=lambda: ["_key"],
        title="Key",
        description="The columns that name a row; else the records' key.",
        min_length=1,
        json_schema_extra={"format": "columns"},
    )

    refresh: PositiveDuration | None = Field(
        None,
        title="Refresh",
        description="Read anew at the latest after this long. In micro-batches it is read with "
        "each batch, in real-time mode at each checkpoint, every two minutes.",
    )

    def batches_only(self) -> str | None:
        if self.refresh and milliseconds(self.refresh) < 120_000:
            return f"it is read anew every {self.refresh}, which real-time mode does at checkpoints"
        return None

    def faults(self) -> Iterator[Fault]:
        yield from super().faults()
        yield from unknown_names(self.gives(), self.key, "key")

    def gives(self) -> Rows:
        columns = (*self.value_columns(), Column("_key", "string"))
        return Rows("lookup", columns, key=tuple(self.key))

    def emit(self, *, read: str = "") -> str:
        option, topics = self.subscription()
        names = [c.name for c in self.value_columns()]
        values = [f"{self.value_of(n)}.alias({n!r})" for n in names]
        parsed, readable = "", "TRUE"
        if self.has_fields:
            parsed, readable = self.parsed(), f"value IS NULL OR ({self.good()})"
        # A deletion has no value to take the key's columns from, only the record's key.
        key = "F.col('_key')"
        if len(self.key) > 1:
            key = f"F.to_json(F.struct({', '.join(repr(sql.quoted(n)) for n in self.key)}))"
        elif self.key != ["_key"]:
            key = f"F.coalesce(F.col({sql.quoted(self.key[0])!r}).cast('string'), F.col('_key'))"
        keep = ", ".join(repr(f"newest.{sql.quoted(n)}") for n in (*names, "_key"))
        inner = ", ".join(repr(sql.quoted(n)) for n in (*names, "_key"))
        from_kafka = f"""
            spark.read.format("kafka")
            .options(**CONNECTIONS[{self.connection!r}])
            .option({option!r}, {topics!r})
            .load()
        """
        return f"""
            {read or from_kafka.strip()}
            {parsed}
            .where({readable!r})
            .select(
                {", ".join(values)},
                F.col('key').cast('string').alias('_key'),
                F.col('offset').alias('_offset'),
                F.col('value').isNull().alias('_deleted'),
            )
            .groupBy({key}.alias('_newest_of'))
            .agg(F.max_by(F.struct({inner}, '_deleted'), '_offset').alias('newest'))
            .where('NOT newest._deleted')
            .select({keep})
        """
