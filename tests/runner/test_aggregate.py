"""What an aggregation remembers, whoever reads it."""

import json

import pytest
from pyspark.sql import functions as F

from runner.rows import Column, Rows
from runner.steps.aggregate import Aggregate

ROWS = Rows("stream", (Column("user", "string"), Column("amount", "bigint")), variable="given")
# What each function gives for 2, 3, 4, 1.
EXPECTED = {
    "count": 4, "sum": 10, "min": 1, "max": 4, "avg": 2.5, "count_distinct": 4, "percentile": 2.5,
}  # fmt: skip


@pytest.mark.parametrize("group_by", [["user"], []], ids=["by user", "of all"])
def test_a_checkpoint_fits_whatever_columns_are_read(spark, tmp_path, group_by):
    asked = [{"name": name, "function": name, "expression": "amount"} for name in EXPECTED]
    asked.append({"name": "by", "function": "max", "expression": "struct(user)"})
    asked.append({"name": "of", "function": "first", "expression": "map(user, true)"})
    step = Aggregate(group_by=group_by, aggregations=asked)
    rows = tmp_path / "rows"
    rows.mkdir()
    results = []

    def result_with(amount, *columns):
        """The columns of the only group after one more row, read by a run of its own."""
        (rows / f"{amount}.json").write_text(json.dumps({"user": "ann", "amount": amount}))
        given = spark.readStream.schema("user string, amount bigint").json(str(rows))
        aggregated = eval(f"({step.emit(ROWS)})", {"F": F, "given": given})
        (
            aggregated.select(*columns)
            .writeStream.outputMode("update")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .foreachBatch(lambda found, batch: results.extend(found.collect()))
            .trigger(availableNow=True)
            .start()
            .awaitTermination()
        )
        return results.pop()

    assert result_with(2, F.lit("changed")) == ("changed",)
    assert result_with(3, "sum", "_version") == (5, 2)
    assert result_with(4, "min") == (2,)
    assert result_with(1, *EXPECTED) == tuple(EXPECTED.values())
