from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Path, Query, Router, Status

from builder.access.permissions import visible_or_404
from builder.connections import topics
from builder.connections.models import Connection
from builder.deployments.topic_uses import Use, uses_of_topic
from builder.environments.models import all_masks
from builder.request import Request
from builder.schema import Body, Schema

router = Router(tags=["connections"])

TopicName = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,249}$")]
Encoding = Literal["text", "base64"]
Cursor = Annotated[str, Field(max_length=300_000)]


class Partition(Schema):
    partition: int
    leader: str | None = Field(description="null where it has none, so that nobody can use it")
    replicas: list[int] = Field(description="The brokers that keep it")
    in_sync: list[int]
    begin: int = Field(description="The first offset that is still there")
    end: int = Field(description="The offset that the next record gets")


class TopicSettings(Schema):
    cleanup_policy: str
    retention_ms: int | None = Field(None, description="-1 for ever")
    retention_bytes: int | None = Field(None, description="Of each partition; -1 without limit")
    max_message_bytes: int | None = None


class UsedBy(Schema):
    pipeline: UUID
    name: str
    step: str
    use: Use
    deployment: UUID | None = Field(description="null where it is only drawn")
    environment: str | None
    state: str | None
    lag: int | None = Field(description="What the job has still to read, where it says so")


class TopicOut(Schema):
    topic: str
    internal: bool = Field(description="Whether Headrace made it for its own ends")
    records: int = Field(description="Offsets in use; in a compacted topic records are fewer")
    partitions: list[Partition]
    settings: TopicSettings | None = Field(description="null where the cluster does not tell")
    used_by: list[UsedBy] = Field(description="By pipelines that one may see")


class GroupPartition(Schema):
    partition: int
    offset: int
    lag: int


class Group(Schema):
    group: str
    state: str
    lag: int
    partitions: list[GroupPartition]


class Groups(Schema):
    items: list[Group]
    count: int
    left_out: int = Field(description="Groups of the cluster that were not asked, being too many")


class RecordHeader(Schema):
    name: str
    value: str | None
    encoding: Encoding


class RecordOut(Schema):
    partition: int
    offset: int
    at: datetime | None
    key: str | None
    key_encoding: Encoding = Field(description="base64 where the bytes are not UTF-8")
    value: str | None = Field(description="null where the record deletes its key")
    value_encoding: Encoding
    headers: list[RecordHeader]
    size: int = Field(description="Bytes of key, value and headers")
    cut: bool = Field(description="Whether only the first bytes of a long part are here")
    masked: bool = Field(description="Whether values of columns are left out that nobody may see")


class RecordsOf(Schema):
    limit: int = Field(50, ge=1, le=200)
    key: str | None = Field(None, max_length=1000, description="The whole key")
    search: str = Field("", max_length=200, description="Text of key or value, any case")
    partition: int | None = Field(None, ge=0)
    offset: int | None = Field(None, ge=0, description="One record of a partition, whole")
    since: datetime | None = None
    until: datetime | None = None
    before: Cursor | None = Field(None, description="Older ones: `before` of an earlier answer")
    after: Cursor | None = Field(None, description="Those since: `after` of an earlier answer")


class Records(Schema):
    items: list[RecordOut] = Field(description="Newest first")
    scanned: int = Field(description="How many records were looked at, 20,000 at most")
    more: bool = Field(description="Whether there may be older ones that match")
    before: str | None
    after: str
    passed_over: int = Field(description="With `after`: how many came besides those shown")


class RecordIn(Body):
    key: str | None = Field(None, max_length=10_000)
    value: str | None = Field(description="null deletes the key in a compacted topic")
    encoding: Encoding = "text"
    headers: dict[str, str] = Field({}, max_length=50)
    partition: int | None = Field(None, ge=0, description="Where left out, the key decides")
    json_: bool = Field(False, alias="json", description="Refuse a value that is no JSON")


class WrittenRecord(Schema):
    topic: str
    partition: int
    offset: int


@router.get(
    "/connections/{uuid:connection_id}/topics/{topic}", response=TopicOut, summary="Get a topic"
)
def get_topic(request: Request, connection_id: UUID, topic: Path[TopicName]) -> Any:
    """Answer a topic's partitions, settings, and the pipelines that read or write it."""
    described = topics.describe_topic(request.auth, connection_id, topic)
    connection = visible_or_404(request.auth, Connection.objects.all(), pk=connection_id)
    return {**described, "used_by": uses_of_topic(request.auth, connection, topic)}


@router.get(
    "/connections/{uuid:connection_id}/topics/{topic}/groups",
    response=Groups,
    summary="Consumer groups of a topic",
)
def list_topic_groups(request: Request, connection_id: UUID, topic: Path[TopicName]) -> Any:
    """List the consumer groups that have read a topic, those furthest behind first."""
    return topics.list_groups(request.auth, connection_id, topic)


@router.get(
    "/connections/{uuid:connection_id}/topics/{topic}/records",
    response=Records,
    summary="Browse a topic",
)
def browse_topic(
    request: Request, connection_id: UUID, topic: Path[TopicName], asked: Query[RecordsOf]
) -> Any:
    """Answer the newest records of a topic, or of those that match, a page at a time.

    A search looks at 20,000 records at most; `before` goes on where it ended.
    """
    # A topic belongs to no environment, so what any of them masks is masked.
    wanted = topics.Asked(**asked.model_dump(), masks=all_masks())
    return topics.browse_topic(request.auth, connection_id, topic, wanted)


@router.post(
    "/connections/{uuid:connection_id}/topics/{topic}/records",
    response={201: WrittenRecord},
    summary="Write a record",
)
def write_record(
    request: Request, connection_id: UUID, topic: Path[TopicName], body: RecordIn
) -> Any:
    """Write one record to a topic, to try something; that it was written is recorded."""
    wanted = topics.WantedRecord(
        body.key, body.value, body.headers, body.partition, body.encoding, body.json_
    )
    return Status(201, topics.write_record(request.auth, connection_id, topic, wanted))
