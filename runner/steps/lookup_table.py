from typing import ClassVar, Literal

from pydantic import Field

from runner import sql
from runner.fields import PositiveDuration, milliseconds
from runner.rows import Column, Rows
from runner.steps.keyed_records import KeyedRecords


class LookupTable(KeyedRecords):
    """A whole table that every worker has, from a compacted topic: the newest row of each key.
    A record without a value deletes its key. Join it on any columns."""

    type: ClassVar[str] = "lookup_table"
    title: ClassVar[str] = "Lookup table"
    icon: ClassVar[str] = "table-import"

    from_: Literal["topic"] = Field("topic", alias="from", title="From")
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

    def gives(self) -> Rows:
        columns = (*self.value_columns(), Column("_key", "string"))
        return Rows("lookup", columns, key=self.key_names())

    def emit(self, *, read: str = "") -> str:
        option, topics = self.subscription()
        names = [c.name for c in self.value_columns()]
        values = [f"{self.value_of(n)}.alias({n!r})" for n in names]
        parsed, readable = "", "TRUE"
        if self.has_fields:
            parsed, readable = self.parsed(), f"value IS NULL OR ({self.good()})"
        key = ", ".join(repr(sql.quoted(n)) for n in self.key_names())
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
            .groupBy({key})
            .agg(F.max_by(F.struct({inner}, '_deleted'), '_offset').alias('newest'))
            .where('NOT newest._deleted')
            .select({keep})
        """
