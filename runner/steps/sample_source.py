from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from runner.fields import NamedExpression
from runner.rows import ARRIVED, Column, Rows
from runner.step_type import Fault, Source, repeated_names, unknown_columns

_COUNTER = Rows("stream", (Column("value", "bigint"), Column("timestamp", "timestamp")))


class SampleSource(Source):
    """Make rows out of nothing, at a steady rate: for demos and load. Expressions may use
    `value`, which counts the rows from 0, and `timestamp`, when the row was made."""

    type: ClassVar[str] = "sample_source"
    title: ClassVar[str] = "Sample rows"
    icon: ClassVar[str] = "sparkles"
    real_time: ClassVar[bool] = False

    rows_per_second: int = Field(1, title="Rows per second", ge=1, le=1_000_000)
    columns: list[NamedExpression] = Field(title="Columns", min_length=1, max_length=500)

    def faults(self) -> Iterator[Fault]:
        yield from repeated_names([c.name for c in self.columns], "columns")
        for i, column in enumerate(self.columns):
            yield from unknown_columns(_COUNTER, column.expression, f"columns.{i}.expression")

    def gives(self) -> Rows:
        listed = tuple(Column(c.name) for c in self.columns)
        hidden = (Column("_key", "string"), Column("_timestamp", "timestamp"))
        counted = (*listed, *hidden, Column("_offset", "bigint"), Column(ARRIVED, "timestamp"))
        return Rows("stream", counted, version="_offset")

    def emit(self) -> str:
        columns = ", ".join(
            f"F.expr({_COUNTER.expression(c.expression)!r}).alias({c.name!r})" for c in self.columns
        )
        return f"""
            spark.readStream.format("rate")
            .option("rowsPerSecond", {self.rows_per_second})
            .load()
            .select(
                {columns},
                F.lit(None).cast("string").alias("_key"),
                F.col("timestamp").alias("_timestamp"),
                F.col("value").alias("_offset"),
                F.col("timestamp").alias({ARRIVED!r}),
            )
        """

    def batches_only(self) -> str | None:
        return "Spark makes sample rows in batches only"
