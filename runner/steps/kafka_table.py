from dataclasses import replace
from typing import ClassVar

from runner.rows import DELETED, Column, Rows
from runner.steps.kafka_source import KafkaSource
from runner.steps.keyed_records import KeyedRecords


class KafkaTable(KeyedRecords, KafkaSource):
    """Read a compacted topic as a table: each record is the newest row of its key, and one
    without a value deletes its key."""

    type: ClassVar[str] = "kafka_table"
    title: ClassVar[str] = "Kafka table"
    icon: ClassVar[str] = "table"

    def gives(self) -> Rows:
        rows = super().gives().with_columns(Column(DELETED, "boolean"))
        return replace(rows, kind="table", key=self.key_names())

    def signature(self) -> object:
        return [super().signature(), list(self.key_names())]

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
