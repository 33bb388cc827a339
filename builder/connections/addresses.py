"""Addresses of brokers, as people write them."""

import ipaddress
import re

_ADDRESS = re.compile(r"(?P<host>[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:]{2,45}\]):(?P<port>\d{1,5})")


def read_addresses(text: str) -> list[tuple[str, int]]:
    """Read `host:port, host:port`. Raises ValueError with a sentence for its author."""
    addresses = []
    for part in text.split(","):
        found = _ADDRESS.fullmatch(part.strip())
        if not found or not 0 < int(found["port"]) < 65536:
            raise ValueError(f"{part.strip()[:60]!r} is no address; write it as host:port.")
        host = found["host"].strip("[]")
        if is_forbidden(host):
            raise ValueError(f"{host} is no place for a broker.")
        addresses.append((host, int(found["port"])))
    return addresses


def is_forbidden(host: str) -> bool:
    """Whether this is an address that no broker has and a cloud's secrets may have."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_link_local or address.is_multicast or address.is_unspecified
