"""Whether Headrace and all that it stands on are there."""

from collections.abc import Callable
from typing import Any

from django.core.cache import cache
from django.db import DatabaseError, connection
from redis.exceptions import RedisError

from builder.connections import kafka
from builder.connections.models import Connection
from builder.deployments.disk import room

Check = tuple[bool, str]


def health() -> tuple[bool, dict[str, Any]]:
    """Whether the web process can answer at all, and each dependency with a sentence."""
    checks: dict[str, Callable[[], Check]] = {
        "database": _database,
        "redis": _redis,
        "control_worker": lambda: _worker("control"),
        "spark_worker": lambda: _worker("spark"),
        "rehearsal_worker": lambda: _worker("rehearsal"),
        "outgoing_worker": lambda: _worker("outgoing"),
        "kafka": _kafka,
        "disk": _disk,
    }
    found: dict[str, Any] = {}
    for name, check in checks.items():
        if name == "kafka" and not found["database"]["ok"]:
            continue
        ok, message = check()
        found[name] = {"ok": ok, "message": message}
    alive: bool = found["database"]["ok"]
    status = "ok" if all(c["ok"] for c in found.values()) else "degraded" if alive else "down"
    return alive, {"status": status, "checks": found}


def _database() -> Check:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False, "The database does not answer."
    return True, "The database answers."


def _redis() -> Check:
    try:
        cache.get("health")
    except RedisError:
        return False, "Redis does not answer; jobs go on, news of them comes late."
    return True, "Redis answers."


def _worker(queue: str) -> Check:
    try:
        there = bool(cache.get(f"worker:{queue}"))
    except RedisError:
        return False, "Not known without Redis."
    return there, f"The {queue} worker {'is there' if there else 'is away'}."


def _kafka() -> Check:
    local = Connection.objects.filter(name="local").first()
    if local is None:
        return True, "There is no local connection."
    try:
        kafka.topic_partitions(local, timeout=2)
    except kafka.Unreachable as error:
        return False, str(error)
    return True, f"A broker answers at {local.bootstrap_servers}."


def _disk() -> Check:
    found = room()
    return not found.is_low, str(found)
