"""Where connections may lead: addresses as people write them, and the hosts behind them."""

import ipaddress
import re
import socket
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from django.conf import settings

HOST = r"[A-Za-z0-9._-]{1,253}|\[?[0-9A-Fa-f:]{2,45}\]?"
_ADDRESS = re.compile(r"(?P<host>[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:]{2,45}\]):(?P<port>\d{1,5})")
# What a cloud tells its machines, secrets among it, by addresses that are none of a link.
_METADATA = {ipaddress.ip_address("fd00:ec2::254"), ipaddress.ip_address("100.100.100.200")}
_PORTS = {"redis": 6379, "rediss": 6379, "postgres": 5432, "postgresql": 5432}

Address = tuple[str, int]


class Forbidden(ValueError):
    """No connection may lead there; the message says so to its author."""


def read_addresses(text: str) -> list[Address]:
    """Read `host:port, host:port`. Raises ValueError with a sentence for its author."""
    addresses = []
    for part in text.split(","):
        found = _ADDRESS.fullmatch(part.strip())
        if not found or not 0 < int(found["port"]) < 65536:
            raise ValueError(f"{part.strip()[:60]!r} is no address; write it as host:port.")
        host = found["host"].strip("[]")
        check_host(host)
        addresses.append((host, int(found["port"])))
    return addresses


def check_host(host: str) -> None:
    """Raise Forbidden where no connection may lead to this name or address."""
    if is_forbidden(host):
        raise Forbidden(f"{host} is no place for a server.")
    approved = [p.strip().lower() for p in settings.ENVIRONMENT.approved_hosts.split(",")]
    patterns = [pattern for pattern in approved if pattern]
    if not patterns or any(fnmatchcase(host.lower(), pattern) for pattern in patterns):
        return
    # Whoever installed Headrace has named these.
    if host not in (found["host"].strip("[]") for found in _ADDRESS.finditer(_installed())):
        raise Forbidden(f"{host} is not among the hosts that the administrator has approved.")


def resolve(host: str, port: int) -> list[str]:
    """The addresses behind a name, each checked. Raises Forbidden, or OSError for none."""
    check_host(host)
    found = _resolved(host, port)
    for address in found:
        if is_forbidden(address):
            raise Forbidden(f"{host} is {address}, which is no place for a server.")
    return found


def check_not_ours(host: str, port: int) -> None:
    """Raise Forbidden where Headrace itself keeps its data: its Redis, its database."""
    there = _places(host, port)
    for our_host, our_port in _ours():
        if port == our_port and there & _places(our_host, our_port):
            raise Forbidden(f"{host}:{port} is Headrace's own; no connection may lead there.")


def is_forbidden(host: str) -> bool:
    """Whether this is an address that no server has and a cloud's secrets may have."""
    address = _literal(host)
    if address is None:
        return False
    return (
        address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or address in _METADATA
    )


def _literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host is written as, in any of the forms that systems read; or None."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        try:
            # As 2852039166 or 0xa9.254.43518, which mean an address everywhere but in browsers.
            return ipaddress.IPv4Address(socket.inet_aton(host))
        except OSError:
            return None
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped or address


def _resolved(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _places(host: str, port: int) -> set[str]:
    """The machines behind a name, none where it has no address; this one has many of them."""
    try:
        literals = [_literal(address.partition("%")[0]) for address in _resolved(host, port)]
    except OSError:
        return set()
    return {"this" if a is None or a.is_loopback else str(a) for a in literals}


def _installed() -> str:
    return settings.ENVIRONMENT.kafka or ""


def _ours() -> Iterator[Address]:
    urls: Iterable[str | None] = (settings.REDIS_URL, settings.ENVIRONMENT.database_url)
    for url in urls:
        parts = urlsplit(url or "")
        if parts.hostname and (port := parts.port or _PORTS.get(parts.scheme)):
            yield parts.hostname, port
