import re
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from runner import sql
from runner.fields import ColumnRef, Config
from runner.rows import ARRIVED, SOURCE_COLUMNS, Column, Rows
from runner.step_type import Fault
from runner.steps.kafka_records import KafkaRecords, starting

# What a record of a format is, for those that are none.
_RECORD = {"json": "JSON object", "csv": "CSV record"}


class FromTime(Config):
    """Begin with the records of a moment: ISO 8601, UTC where no zone is given."""

    timestamp: str = Field(title="Time")

    @field_validator("timestamp")
    @classmethod
    def _moment(cls, text: str) -> str:
        try:
            datetime.fromisoformat(text)
        except ValueError:
            raise ValueError("Write the time as 2026-01-31T12:00:00Z.") from None
        return text


class FromOffsets(Config):
    """Begin at offsets: by topic, then by partition; -2 is the first there is, -1 the end."""

    offsets: dict[str, dict[str, int]] = Field(title="Offsets")

    @field_validator("offsets")
    @classmethod
    def _numbers(cls, offsets: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
        for partitions in offsets.values():
            for partition, offset in partitions.items():
                if not partition.isdecimal() or offset < -2:
                    raise ValueError('Write offsets as {"topic": {"0": 42}}.')
        return offsets


def _kind_of_start(value: object) -> str:
    if isinstance(value, FromTime) or (isinstance(value, dict) and "timestamp" in value):
        return "(time)"
    if isinstance(value, FromOffsets | dict):
        return "(offsets)"
    return "(named)"


Start = Annotated[
    Annotated[Literal["earliest", "latest"], Tag("(named)")]
    | Annotated[FromTime, Tag("(time)")]
    | Annotated[FromOffsets, Tag("(offsets)")],
    Discriminator(_kind_of_start),
]


class KafkaSource(KafkaRecords):
    """Read the records of one or more Kafka topics as a stream of rows."""

    type: ClassVar[str] = "kafka_source"
    title: ClassVar[str] = "Kafka topic"
    icon: ClassVar[str] = "database-import"

    event_time: ColumnRef | None = Field(
        None,
        title="Event time",
        description="The column that says when a row happened; else the time Kafka has.",
    )
    start: Start = Field("earliest", title="Start", description="Where a first run begins to read.")
    on_bad_record: Literal["dead_letter", "skip", "fail"] = Field(
        "dead_letter",
        title="Bad records",
        description="dead_letter: kept in a topic of their own, with the reason; skip: dropped; "
        "fail: the job stops.",
    )
    max_rows_per_batch: int | None = Field(
        None,
        title="Most rows per batch",
        description="Holds a full topic back; runs in micro-batches.",
        ge=1,
    )

    @model_validator(mode="before")
    @classmethod
    def _nothing_for_empty(cls, data: object) -> object:
        if isinstance(data, dict) and data.get("event_time") == "":
            return {k: v for k, v in data.items() if k != "event_time"}
        return data

    def faults(self) -> Iterator[Fault]:
        yield from super().faults()
        if self.event_time is not None:
            declared = {c.name.lower(): c.type for c in self.value_columns()}
            kind = declared.get(self.event_time.lower())
            if kind is None:
                hint = sql.suggestion(self.event_time, [c.name for c in self.value_columns()])
                yield "event_time", f"There is no column {self.event_time}. {hint}".strip()
            elif kind != "timestamp":
                yield "event_time", f"{self.event_time} is no timestamp; give it that type."

    def gives(self) -> Rows:
        hidden = tuple(Column(name, type_) for name, type_ in SOURCE_COLUMNS.items())
        return Rows(
            "stream",
            (*self.value_columns(), *hidden, Column(ARRIVED, "timestamp")),
            lane=("_topic", "_partition"),
            version="_offset",
            origins=frozenset(() if self.topic_pattern else self.topics),
        )

    def batches_only(self) -> str | None:
        if self.max_rows_per_batch:
            return "it limits the rows of a batch"
        return None

    @property
    def has_dead_letters(self) -> bool:
        """Whether records that can't be read go to a topic of their own."""
        return self.has_fields and self.on_bad_record == "dead_letter"

    def emit_records(
        self, start: object, *, fetch_at_once: bool, headers: bool, read: str = ""
    ) -> str:
        """The DataFrame of the raw records, from `start` unless a checkpoint knows better.

        `read` is the source of another DataFrame to take them from, with Kafka's columns.
        """
        option, topics = self.subscription()
        limit = f".option('maxOffsetsPerTrigger', {self.max_rows_per_batch})"
        strictness = "FAILFAST" if self.on_bad_record == "fail" else "PERMISSIVE"
        begin = self._mine(start) or self.model_dump(include={"start"})["start"]
        from_kafka = f"""
            spark.readStream.format("kafka")
            .options(**CONNECTIONS[{self.connection!r}])
            .option({option!r}, {topics!r})
            {starting(begin)}
            {".option('includeHeaders', True)" if headers else ""}
            {".option('kafka.fetch.max.wait.ms', 10)" if fetch_at_once else ""}
            {limit if self.max_rows_per_batch else ""}
            .load()
        """
        return f"""
            {read or from_kafka.strip()}
            {self.parsed(strictness) if self.has_fields else ""}
        """

    def _mine(self, start: object) -> object:
        """Of a start that is for all sources what this one takes of it; None where that is nothing.

        Spark wants offsets of the topics that it reads, and of no others.
        """
        if not isinstance(start, dict) or "offsets" not in start:
            return start
        offsets = {t: offsets for t, offsets in start["offsets"].items() if self._reads(t)}
        return {"offsets": offsets} if offsets else None

    def _reads(self, topic: str) -> bool:
        if self.topic_pattern:
            return re.fullmatch(self.topic_pattern, topic) is not None
        return topic in self.topics

    def emit_rows(self, step: str, records: str, *, headers: bool) -> str:
        """The DataFrame of the rows in those records that can be read; skipped ones are counted."""
        event_time = "F.col('timestamp')"
        if self.event_time:
            event_time = f"F.coalesce({self.value_of(self.event_time)}, F.col('timestamp'))"
        columns = [f"{self.value_of(c.name)}.alias({c.name!r})" for c in self.value_columns()]
        good = f".where({self.good()!r})"
        if self.on_bad_record == "skip":
            dropped = f"F.count_if(F.expr({self.bad()!r})).alias('dropped')"
            good = f".observe({step + '.dropped'!r}, {dropped}){good}"
        return f"""
            {records}
            {good if self.has_fields else ""}
            .select(
                {", ".join(columns)},
                F.col('key').cast('string').alias('_key'),
                {event_time}.alias('_timestamp'),
                F.col('topic').alias('_topic'),
                F.col('partition').alias('_partition'),
                F.col('offset').alias('_offset'),
                {"F.col('headers').alias('_headers')," if headers else ""}
                F.col('timestamp').alias({ARRIVED!r}),
                {self._more()}
            )
        """

    def emit_dead_letters(self, step: str, records: str, topic: str) -> str:
        """The DataFrame of the records that can't be read, as they go to the dead-letter topic.

        `records` have their headers, which stay.
        """
        error = f"The value is no {_RECORD[self.format]} of the declared columns."
        provenance = ", ".join(
            f"F.struct(F.lit({name!r}).alias('key'), "
            f"{value}.cast('string').cast('binary').alias('value'))"
            for name, value in (
                ("headrace.step", f"F.lit({step!r})"),
                ("headrace.topic", "F.col('topic')"),
                ("headrace.partition", "F.col('partition')"),
                ("headrace.offset", "F.col('offset')"),
                ("headrace.error", f"F.lit({error!r})"),
            )
        )
        return f"""
            {records}
            .where({self.bad()!r})
            .select(
                F.lit({topic!r}).alias('topic'),
                'key',
                'value',
                F.concat(
                    F.coalesce('headers', F.array()), F.array({provenance})
                ).alias('headers'),
            )
        """

    def signature(self) -> object:
        return {"connection": self.connection, "read": self.subscription()}

    def good(self) -> str:
        if self.on_bad_record == "fail":
            return f"{self.format} IS NOT NULL"
        return super().good()

    def _more(self) -> str:
        """More columns of a row, as Python source."""
        return ""
