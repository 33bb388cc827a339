from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Path, Query, Router, Status

from builder.access.permissions import visible, visible_or_404
from builder.connections import actions
from builder.connections.models import Connection
from builder.connections.parse_rows import parse_rows
from builder.connections.sample import Format
from builder.deployments.actions import nudge_those_without_topic
from builder.environments.models import all_masks
from builder.paging import SearchedPage
from builder.request import Request
from builder.schema import Body, Schema
from runner.mask import masked, masked_text

router = Router(tags=["connections"])


ConnectionType = Literal["kafka", "postgresql", "files", "schema_registry"]
TopicName = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,249}$")]


class ConnectionIn(Body):
    name: str = Field(pattern=r"^[a-z][a-z0-9_-]{0,62}$")
    type: ConnectionType = "kafka"
    bootstrap_servers: str = Field("", description="Of Kafka: host:port, several by comma")
    settings: dict[str, Any] | None = Field(
        None,
        description="Of Kafka: security_protocol, sasl_mechanism, username, ca_certificate, "
        "client_certificate; of PostgreSQL: host, port, database, user, sslmode; of files: "
        "folder; of a schema registry: url, user. Left out, they stay as they are",
    )
    secrets: dict[str, str | None] = Field(
        default={},
        max_length=10,
        description="password, and of Kafka client_key. Those not named stay; null removes one",
    )

    def wanted(self) -> actions.Wanted:
        """What the body asks for."""
        return actions.Wanted(**self.model_dump())


class ConnectionOut(Schema):
    id: UUID
    name: str
    type: ConnectionType
    bootstrap_servers: str
    settings: dict[str, Any]
    secrets: list[str] = Field(description="Which are set; they never come out")
    updated_at: datetime

    @staticmethod
    def resolve_secrets(connection: Connection) -> list[str]:
        return sorted(connection.secrets)


class Connections(Schema):
    items: list[ConnectionOut]
    count: int


class TestStep(Schema):
    name: str
    ok: bool
    message: str


class TestResult(Schema):
    ok: bool
    steps: list[TestStep]


class Topic(Schema):
    topic: str
    partitions: int


class TopicIn(Body):
    topic: TopicName
    partitions: int = Field(2, ge=1, le=1000)


class Topics(Schema):
    items: list[Topic]
    count: int


class Column(Schema):
    name: str
    type: str


class SampleOf(Schema):
    limit: int = Field(20, ge=1, le=1000)
    since: datetime | None = Field(
        None, description="The first from this time on, in place of the newest"
    )
    format: Format | None = Field(
        None, description="How the source reads values, where that is known"
    )


class Sample(Schema):
    topic: str
    format: Literal["json", "csv", "text"]
    columns: list[Column]
    rows: list[dict[str, Any]] = Field(description="As they stand in the topic, to be looked at")
    records: list[dict[str, Any]] = Field(description="In the form that a rehearsal takes")


class RowsText(Body):
    text: str = Field(description="JSON lines, a JSON array, or CSV whose first line has the names")
    format: Literal["auto", "json_lines", "json", "csv"] = "auto"


class LineProblem(Schema):
    line: int
    message: str


class ParsedRows(Schema):
    format: Literal["json_lines", "json", "csv"]
    rows: list[dict[str, Any]]
    columns: list[Column]
    problems: list[LineProblem] = Field(description="Lines that could not be read are left out")


@router.get("/connections", response=Connections, summary="List connections")
def list_connections(request: Request, page: Query[SearchedPage]) -> Any:
    """List the connections that steps can name."""
    rows = Connection.objects.filter(name__icontains=page.search)
    return page.of(visible(request.auth, rows))


@router.post("/connections", response={201: ConnectionOut}, summary="Make a connection")
def create_connection(request: Request, body: ConnectionIn) -> Any:
    """Make a connection; 422 with `problems` on the fields that can't be so."""
    return Status(201, actions.make_connection(request.auth, body.wanted()))


@router.get("/connections/{uuid:connection_id}", response=ConnectionOut, summary="Get a connection")
def get_connection(request: Request, connection_id: UUID) -> Any:
    """Answer one connection."""
    return visible_or_404(request.auth, Connection.objects.all(), pk=connection_id)


@router.put(
    "/connections/{uuid:connection_id}", response=ConnectionOut, summary="Change a connection"
)
def update_connection(request: Request, connection_id: UUID, body: ConnectionIn) -> Any:
    """Change a connection; running jobs keep the old addresses until they are restarted."""
    return actions.change_connection(request.auth, connection_id, body.wanted())


@router.delete(
    "/connections/{uuid:connection_id}", response={204: None}, summary="Delete a connection"
)
def delete_connection(request: Request, connection_id: UUID) -> Any:
    """Delete a connection; 409 where a deployment that should run uses it."""
    actions.delete_connection(request.auth, connection_id)
    return Status(204, None)


@router.post(
    "/connections/{uuid:connection_id}/test", response=TestResult, summary="Test a connection"
)
def test_connection(request: Request, connection_id: UUID) -> Any:
    """Try to reach what it names; answers each step, up to the first that fails."""
    steps = actions.test_connection(request.auth, connection_id)
    return {"ok": all(step["ok"] for step in steps), "steps": steps}


@router.get("/connections/{uuid:connection_id}/topics", response=Topics, summary="List topics")
def list_topics(request: Request, connection_id: UUID) -> Any:
    """List the cluster's topics with their partitions, Kafka's own left out."""
    topics = actions.list_topics(request.auth, connection_id)
    items = [{"topic": name, "partitions": count} for name, count in topics.items()]
    return {"items": items, "count": len(items)}


@router.post(
    "/connections/{uuid:connection_id}/topics", response={201: Topic}, summary="Make a topic"
)
def create_topic(request: Request, connection_id: UUID, body: TopicIn) -> Any:
    """Make a topic; deployments that wait for it start at once."""
    connection = actions.make_topic(request.auth, connection_id, body.topic, body.partitions)
    nudge_those_without_topic(connection.name, body.topic)
    return Status(201, body.model_dump())


@router.get(
    "/connections/{uuid:connection_id}/topics/{topic}/sample",
    response=Sample,
    summary="Sample a topic",
)
def sample_topic(
    request: Request,
    connection_id: UUID,
    topic: Path[TopicName],
    asked: Query[SampleOf],
) -> Any:
    """Answer the newest rows of a topic, or the first since a time, and their columns."""
    found = actions.sample_topic(
        request.auth, connection_id, topic, asked.limit, asked.since, asked.format
    )
    masks = all_masks()
    for row in found["rows"]:
        row["_value"] = row["_value"] and masked_text(row["_value"], masks)
    found["records"] = masked(found["records"], masks)
    return found


@router.post("/rows/parse", response=ParsedRows, summary="Read pasted rows")
def parse_pasted_rows(request: Request, body: RowsText) -> Any:
    """Read rows out of a text, up to 10,000 and 5 MB, and propose their columns."""
    return parse_rows(body.text, body.format)
