"""What a deployment counts, measures and holds, as the API and the websocket say it."""

from datetime import datetime
from typing import Annotated, Literal

from ninja import Field
from pydantic import ConfigDict

from builder.schema import Json, Schema

Ms = Annotated[float | None, Field(description="Milliseconds")]
Seconds = Annotated[float | None, Field(description="Seconds")]


class StepMetrics(Schema):
    in_: int | None = Field(alias="in", description="null where it can't be told")
    out: int | None
    dropped: int | None = Field(
        None, description="Rows left out on purpose: unreadable where that is skipped, or too late"
    )
    errors: int | None = Field(None, description="Records put aside as dead letters")
    rate: float = Field(description="Rows out per second, of the last five seconds")


class Latency(Schema):
    p50: float = Field(description="Milliseconds, of half of the newest records at most")
    p99: float


class SegmentMetrics(Schema):
    model_config = ConfigDict(extra="allow")

    batch: int | None = Field(None, description="The newest batch; in real time the one under way")
    batch_ms: Ms = None
    batch_parts: dict[str, float] | None = Field(
        None, description="What the newest ended batch took its time for, in milliseconds"
    )
    latency_ms: Latency | None = Field(
        None,
        description="From Kafka's time of a record that is read to Kafka's time of what is written",
    )
    rate: float | None = Field(None, description="Records read per second")
    lag: dict[str, int | None] | None = Field(
        None, description="Records still to be read, by topic-partition; null where not known"
    )
    lag_seconds: dict[str, float | None] | None = Field(
        None, description="How old the oldest record is that is still to be read; 0 where none is"
    )
    position: int | None = None
    watermark: str | None = None
    watermark_delay: Seconds = Field(None, description="How far the watermark is behind now")
    state_rows: int | None = None
    state_bytes: int | None = None


class Metrics(Schema):
    at: datetime
    rate: float = Field(description="Rows per second that the sources give")
    lag: int | None = Field(None, description="Records still to be read, of all sources")
    lag_seconds: Seconds = Field(None, description="Of the source that is furthest behind")
    latency_ms: Ms = Field(None, description="The median latency of the slowest segment")
    restarts: int = Field(
        0, description="How many runs began because the one before crashed or met an outage"
    )
    steps: dict[str, StepMetrics]
    segments: dict[str, SegmentMetrics]


class PointSegment(Schema):
    batch_ms: Ms = None
    latency_ms: Ms = None
    latency_p99_ms: Ms = None
    lag: int | None = None
    lag_seconds: Seconds = None
    watermark_delay: Seconds = None
    state_rows: int | None = None
    state_bytes: int | None = None


class Point(Schema):
    at: datetime
    rate: float
    lag: int | None = None
    lag_seconds: Seconds = None
    latency_ms: Ms = None
    restarts: int = 0
    steps: dict[str, StepMetrics]
    segments: dict[str, PointSegment]


class History(Schema):
    from_: datetime = Field(alias="from")
    to: datetime
    every: int = Field(description="Seconds that each point stands for")
    before: Point | None = Field(
        description="The newest point before `from`: what had been counted when the span began. "
        "A span's count is the last point's minus this one's; a count smaller than the one before "
        "began anew, and counts from nothing"
    )
    points: list[Point]


class Sparkpoint(Schema):
    at: datetime
    rate: float
    lag: int | None
    latency_ms: float | None


class Sparklines(Schema):
    from_: datetime = Field(alias="from")
    to: datetime
    every: int = Field(description="Seconds that each point stands for")
    deployments: dict[str, list[Sparkpoint]] = Field(description="By the id of the deployment")


class KeyColumn(Schema):
    name: str
    type: str | None = Field(description="null where only Spark can tell it")


class TableOut(Schema):
    step: str
    label: str
    key: list[KeyColumn]
    mode: Literal["real_time", "micro_batch"] | None = Field(
        description="How the segment runs that remembers it; null where a topic holds it"
    )
    kept: Literal["state", "side", "topic", "sources"] | None = Field(
        description="Where its rows are: the step's own state, that of a join that it flows into, "
        "a topic that it is written to, those that it is read from; null where nowhere"
    )
    live: bool = Field(description="Whether rows are told that are not committed yet")


class Tables(Schema):
    tables: list[TableOut]


class StateColumn(Schema):
    name: str
    type: str


class StateOut(Schema):
    step: str
    columns: list[StateColumn]
    key: list[str] = Field(description="The columns that name a row; window is a time from start")
    rows: list[Json]
    more: bool = Field(description="Whether there are more rows than the limit let through")
    from_: Literal["checkpoint", "topic"] = Field(
        alias="from",
        description="topic: rows that were written since the last commit are among them",
    )
    as_of: datetime | None = Field(description="Up to when the rows are complete")
    batch: int | None = Field(description="The newest that is committed; null where there is none")
    committed_at: datetime | None = None
    note: str = Field(description="What else there is to know of these rows, in sentences")


class StateQuery(Schema):
    key: str | None = Field(
        None,
        max_length=10_000,
        description="The plain value of a key of one column, or a JSON object of columns",
    )
    prefix: str | None = Field(None, max_length=1_000, description="How the key, a text, begins")
    from_: datetime | None = Field(None, alias="from", description="Windows that start from here")
    to: datetime | None = Field(None, description="Windows that start before")
    limit: int = Field(100, ge=1, le=1000)
    live: bool = Field(
        True, description="With what a real-time segment has written since its last commit"
    )
