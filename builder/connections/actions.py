"""Every write to connections, and the questions that reach out to a cluster."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from builder.access.activity import record
from builder.access.permissions import require, visible_or_404
from builder.connections import kafka
from builder.connections.models import Connection
from builder.connections.sample import Format, sample
from builder.refused import Refused

LOCAL = "local"


def make_connection(user: User, name: str, bootstrap_servers: str) -> Connection:
    """Make a Kafka connection. Raises Refused (409) where the name is taken."""
    require(user, "add", Connection)
    with transaction.atomic():
        _refuse_taken(name)
        connection = Connection.objects.create(name=name, bootstrap_servers=bootstrap_servers)
        record(user, "add", connection, f"{user} made the connection {name}")
    return connection


def change_connection(
    user: User, connection_id: UUID, name: str, bootstrap_servers: str
) -> Connection:
    """Change a connection; what already runs keeps the old one until it is restarted."""
    require(user, "change", Connection)
    with transaction.atomic():
        connection = visible_or_404(user, Connection.objects.select_for_update(), pk=connection_id)
        if name != connection.name:
            _refuse_taken(name)
        connection.name = name
        connection.bootstrap_servers = bootstrap_servers
        connection.save()
        record(user, "change", connection, f"{user} changed the connection {name}")
    return connection


def delete_connection(user: User, connection_id: UUID) -> None:
    """Delete a connection; steps that name it get a problem."""
    require(user, "delete", Connection)
    with transaction.atomic():
        connection = visible_or_404(user, Connection.objects.select_for_update(), pk=connection_id)
        record(user, "delete", connection, f"{user} deleted the connection {connection.name}")
        connection.delete()


def set_local_connection(bootstrap_servers: str) -> Connection:
    """Make or update the connection to the cluster that this installation was started with."""
    with transaction.atomic():
        connection, made = Connection.objects.get_or_create(
            name=LOCAL, defaults={"bootstrap_servers": bootstrap_servers}
        )
        if made:
            record(None, "add", connection, f"Headrace made the connection {LOCAL}")
        elif connection.bootstrap_servers != bootstrap_servers:
            connection.bootstrap_servers = bootstrap_servers
            connection.save()
            record(None, "change", connection, f"Headrace found {LOCAL} at {bootstrap_servers}")
    return connection


def test_connection(user: User, connection_id: UUID) -> list[dict[str, Any]]:
    """Try a connection step by step. It reaches out, so it needs the right to change it."""
    connection = visible_or_404(user, Connection.objects.all(), pk=connection_id)
    require(user, "change", Connection)
    return kafka.test_steps(connection.bootstrap_servers)


def list_topics(user: User, connection_id: UUID) -> dict[str, int]:
    """The partitions of each topic. Raises Refused (502) where no broker answers."""
    connection = visible_or_404(user, Connection.objects.all(), pk=connection_id)
    try:
        return kafka.topic_partitions(connection.bootstrap_servers)
    except kafka.Unreachable as error:
        raise _unreachable(connection, error) from None


def make_topic(user: User, connection_id: UUID, topic: str, partitions: int) -> Connection:
    """Make a topic. Raises Refused: 409 where it is there, 502 where no broker answers."""
    connection = visible_or_404(user, Connection.objects.all(), pk=connection_id)
    require(user, "change", Connection)
    try:
        kafka.create_topic(connection.bootstrap_servers, topic, partitions)
    except kafka.TopicExists as error:
        raise Refused(409, str(error)) from None
    except kafka.NotMade as error:
        raise Refused(422, str(error)) from None
    except kafka.Unreachable as error:
        raise _unreachable(connection, error) from None
    record(user, "change", connection, f"{user} made the topic {topic} in {connection.name}")
    return connection


def sample_topic(
    user: User,
    connection_id: UUID,
    topic: str,
    limit: int,
    since: datetime | None = None,
    format: Format | None = None,
) -> dict[str, Any]:
    """The newest records of a topic, or the first since a time; their format and columns."""
    connection = visible_or_404(user, Connection.objects.all(), pk=connection_id)
    if since is not None and since.tzinfo is None:
        since = since.replace(tzinfo=UTC)
    try:
        records = kafka.read_records(connection.bootstrap_servers, topic, limit, since)
    except kafka.NoSuchTopic as error:
        raise Refused(404, str(error)) from None
    except kafka.Unreachable as error:
        raise _unreachable(connection, error) from None
    return {"topic": topic, **sample(records, format)}


def _refuse_taken(name: str) -> None:
    if Connection.objects.filter(name=name).exists():
        raise Refused(409, f"There is a connection {name} already; choose another name.")


def _unreachable(connection: Connection, error: Exception) -> Refused:
    return Refused(502, f"The connection {connection.name} does not answer. {error}")
