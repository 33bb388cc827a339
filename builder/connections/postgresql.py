"""What a PostgreSQL server says of itself."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg

from builder.connections.addresses import Forbidden, check_not_ours, resolve
from builder.connections.reach import SECONDS, Step, knocked, looked_up


def test_steps(database: Mapping[str, Any]) -> Iterator[Step]:
    """Try a database step by step; a step that fails is the last one."""
    host, port = database["host"], database.get("port", 5432)
    yield from looked_up([(host, port)])
    try:
        check_not_ours(host, port)
    except Forbidden as error:
        yield Step("Name", False, str(error))
        return
    yield from knocked([(host, port)])
    try:
        with _connected(database) as connection:
            encrypted = connection.pgconn.ssl_in_use
            yield Step("TLS", True, "Encrypted." if encrypted else "Not encrypted.")
            yield Step("Credentials", True, f"{database['user']} is let in.")
            row = connection.execute("SELECT current_database(), version()").fetchone()
            assert row is not None
            yield Step("Database", True, f"{row[0]}: {row[1].partition(' on ')[0]}.")
    except psycopg.Error as error:
        yield _refusal(error)


def _connected(database: Mapping[str, Any]) -> "psycopg.Connection[tuple[Any, ...]]":
    host, port = database["host"], database.get("port", 5432)
    mode = database.get("sslmode", "prefer")
    # Every option that matters by name: libpq would take others from the environment.
    options: dict[str, Any] = {"sslrootcert": "system"} if mode == "verify-full" else {}
    return psycopg.connect(
        host=host,
        hostaddr=resolve(host, port)[0],
        port=port,
        dbname=database["database"],
        user=database["user"],
        password=database.get("password", ""),
        sslmode=mode,
        passfile="/dev/null/none",
        connect_timeout=int(SECONDS),
        autocommit=True,
        **options,
    )


def _refusal(error: psycopg.Error) -> Step:
    lines = [line for line in str(error).splitlines() if line.strip()] or ["It gave no reason"]
    said = re.sub(r'^.*?connection to server at "[^"]*".*?failed: ', "", lines[0])
    said = said.removeprefix("FATAL:").strip().rstrip(".")
    if re.search(r"SSL|certificate", said):
        return Step("TLS", False, f"{said}.")
    if re.search(r"database .* does not exist", said):
        return Step("Database", False, f"{said}.")
    return Step("Credentials", False, f"{said}.")
