"""Every write to connections, and the questions that reach out to what they name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from builder.access.activity import record
from builder.access.permissions import require, visible_or_404
from builder.connections import files, kafka, postgresql, schema_registry
from builder.connections.connection_types import TYPES, Unsound, read
from builder.connections.models import Connection
from builder.connections.reach import Step, until_one_fails
from builder.connections.sample import Format, sample
from builder.connections.sealed import NotReadable, seal, sealed_anew
from builder.refused import Refused, unsound
from runner.problems import Problem

LOCAL = "local"
PASSWORD = "password"  # noqa: S105
# Whoever may change these must know the password: else they could have it sent to themselves.
LEADING = (
    "bootstrap_servers", "host", "port", "url", "security_protocol", "sasl_mechanism", "sslmode",
    "ca_certificate",
)  # fmt: skip
_TRIALS: dict[str, Callable[[Mapping[str, Any]], Iterator[Step]]] = {
    "kafka": kafka.test_steps,
    "postgresql": postgresql.test_steps,
    "files": files.test_steps,
    "schema_registry": schema_registry.test_steps,
}


@dataclass(frozen=True)
class Wanted:
    """A connection as somebody wants it.

    `settings` are those that its type lists, None for those it has; `secrets` are those to
    change: what is not named stays, what is None goes.
    """

    name: str
    type: str = "kafka"
    bootstrap_servers: str = ""
    settings: Mapping[str, Any] | None = None
    secrets: Mapping[str, str | None] = field(default_factory=dict, repr=False)


def make_connection(user: User, wanted: Wanted) -> Connection:
    """Make a connection. Raises Refused: 409 where the name is taken, 422 with problems."""
    require(user, "add", Connection)
    with transaction.atomic():
        _refuse_taken(wanted.name)
        connection = Connection(name=wanted.name, type=wanted.type)
        _write(connection, wanted)
        record(user, "add", connection, f"{user} made the connection {connection}")
    return connection


def change_connection(user: User, connection_id: UUID, wanted: Wanted) -> Connection:
    """Change a connection; what already runs keeps the old one until it is restarted.

    Raises Refused: 409 where the name is taken, 422 with problems.
    """
    require(user, "change", Connection)
    with transaction.atomic():
        connection = visible_or_404(user, Connection.objects.select_for_update(), pk=connection_id)
        if wanted.name != connection.name:
            _refuse_taken(wanted.name)
        if wanted.type != connection.type:
            message = "A connection keeps its type; make another one."
            raise unsound([Problem(None, "type", message)], "The connection")
        connection.name = wanted.name
        _write(connection, wanted)
        record(user, "change", connection, f"{user} changed the connection {connection}")
    return connection


def delete_connection(user: User, connection_id: UUID) -> None:
    """Delete a connection; steps that name it get a problem.

    Raises Refused (409) where it is in use.
    """
    require(user, "delete", Connection)
    with transaction.atomic():
        connection = visible_or_404(user, Connection.objects.select_for_update(), pk=connection_id)
        record(user, "delete", connection, f"{user} deleted the connection {connection.name}")
        # Whoever uses it says so as Django's `pre_delete` is sent.
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


def renew_encryption() -> int:
    """Encrypt all secrets by the first key; how many connections have some."""
    with transaction.atomic():
        rows = list(Connection.objects.select_for_update().exclude(secrets={}))
        for connection in rows:
            connection.secrets = {n: sealed_anew(token) for n, token in connection.secrets.items()}
            connection.save(update_fields=["secrets"])
        if rows:
            record(None, "change", rows[0], "Headrace encrypted the secrets of connections anew")
    return len(rows)


def test_connection(user: User, connection_id: UUID) -> list[dict[str, Any]]:
    """Try a connection step by step. It reaches out, so it needs the right to change it."""
    connection = visible_or_404(user, Connection.objects.all(), pk=connection_id)
    require(user, "change", Connection)
    return list(until_one_fails(_TRIALS[connection.type](_opened(connection))))


def list_topics(user: User, connection_id: UUID) -> dict[str, int]:
    """The partitions of each topic. Raises Refused (502) where no broker answers."""
    connection = visible_or_404(user, Connection.objects.all(), pk=connection_id)
    require(user, "read topics of", Connection)
    _require_kafka(connection)
    try:
        return kafka.topic_partitions(connection)
    except kafka.Unreachable as error:
        raise _unreachable(connection, error) from None


def make_topic(user: User, connection_id: UUID, topic: str, partitions: int) -> Connection:
    """Make a topic. Raises Refused: 409 where it is there, 502 where no broker answers."""
    connection = visible_or_404(user, Connection.objects.all(), pk=connection_id)
    require(user, "make topics in", Connection)
    _require_kafka(connection)
    try:
        kafka.create_topic(connection, topic, partitions)
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
    require(user, "read topics of", Connection)
    if since is not None and since.tzinfo is None:
        since = since.replace(tzinfo=UTC)
    _require_kafka(connection)
    try:
        records = kafka.read_records(connection, topic, limit, since)
    except kafka.NoSuchTopic as error:
        raise Refused(404, str(error)) from None
    except kafka.Unreachable as error:
        raise _unreachable(connection, error) from None
    return {"topic": topic, **sample(records, format)}


def faults(wanted: Wanted, connection: Connection) -> list[Problem]:
    """All that is wrong with what is wanted of a connection, each on its field."""
    try:
        _said(wanted, connection)
    except Unsound as error:
        return [Problem(None, field, message) for field, message in error.faults]
    return []


def _write(connection: Connection, wanted: Wanted) -> None:
    """Give a connection what is wanted of it, and save it."""
    if problems := faults(wanted, connection):
        raise unsound(problems, "The connection")
    said = _said(wanted, connection)
    secret = TYPES[connection.type].secrets
    connection.secrets = {name: seal(said.pop(name)) for name in secret if name in said}
    connection.bootstrap_servers = said.pop("bootstrap_servers", "")
    connection.settings = said
    connection.save()


def _said(wanted: Wanted, connection: Connection) -> dict[str, Any]:
    """All that a connection will have, its secrets too. Raises Unsound."""
    secret = TYPES[wanted.type].secrets
    settings = connection.settings if wanted.settings is None else dict(wanted.settings)
    # What a form leaves empty is what its author does not want to change.
    secrets = {name: value for name, value in wanted.secrets.items() if value != ""}
    amiss = [(f"settings.{n}", "Give it among the secrets.") for n in settings if n in secret]
    amiss += [(f"secrets.{n}", "There is no such secret.") for n in secrets if n not in secret]
    if "bootstrap_servers" in settings:
        amiss.append(("settings.bootstrap_servers", "Give it beside the settings."))
    if amiss:
        raise Unsound(amiss)
    given = {**settings, **secrets}
    if wanted.type == Connection.Type.KAFKA or wanted.bootstrap_servers:
        given["bootstrap_servers"] = wanted.bootstrap_servers
    try:
        said = read(wanted.type, given, _readable_secrets(connection)).given()
    except Unsound as error:
        raise Unsound([(_where(n, secret), message) for n, message in error.faults]) from None
    if PASSWORD in said and PASSWORD not in secrets and _leads(said) != _leads_now(connection):
        message = "The connection leads elsewhere now, so the password is needed again."
        raise Unsound([(f"secrets.{PASSWORD}", message)])
    return said


def _leads(said: Mapping[str, Any]) -> dict[str, Any]:
    """What decides who will be told the password, and who could listen."""
    return {name: said[name] for name in LEADING if said.get(name)}


def _leads_now(connection: Connection) -> dict[str, Any]:
    return _leads({**connection.settings, "bootstrap_servers": connection.bootstrap_servers})


def _where(field: str, secret: Sequence[str]) -> str:
    """What people know a field of a connection's type by."""
    if field == "bootstrap_servers":
        return field
    return f"secrets.{field}" if field in secret else f"settings.{field}"


def _readable_secrets(connection: Connection) -> dict[str, str]:
    """Its secrets, none where their key is gone: they have to be given anew."""
    try:
        return connection.opened_secrets()
    except NotReadable:
        return {}


def _opened(connection: Connection) -> dict[str, Any]:
    try:
        return connection.with_secrets()
    except NotReadable as error:
        detail = f"The secrets of {connection} can't be read. {error} Enter them again."
        raise Refused(409, detail) from None


def _require_kafka(connection: Connection) -> None:
    if connection.type != Connection.Type.KAFKA:
        raise Refused(409, f"{connection} leads to no Kafka; it has no topics.")


def _refuse_taken(name: str) -> None:
    if Connection.objects.filter(name=name).exists():
        raise Refused(409, f"There is a connection {name} already; choose another name.")


def _unreachable(connection: Connection, error: Exception) -> Refused:
    return Refused(502, f"The connection {connection.name} does not answer. {error}")
