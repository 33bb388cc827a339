"""The steps by which a connection is tried, up to the first that fails."""

import socket
import ssl
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from builder.connections.addresses import Address, Forbidden, read_addresses, resolve

SECONDS = 5.0
# What people can do about it; the rest OpenSSL says well enough.
_ADVICE = {
    "self-signed certificate in certificate chain": "Give the certificate of who signed it.",
    "self-signed certificate": "Give it as the CA certificate, if it is the right one.",
    "unable to get local issuer certificate": "Give the certificate of who signed it.",
}


@dataclass(frozen=True)
class Step:
    """One step of a trial, and what was found, in a sentence."""

    name: str
    ok: bool
    message: str


def until_one_fails(steps: Iterable[Step]) -> Iterator[dict[str, Any]]:
    """The steps, up to and with the first that fails; those behind it are not even tried."""
    for step in steps:
        yield asdict(step)
        if not step.ok:
            return


def addressed(text: str) -> Generator[Step, None, list[Address]]:
    """Read addresses as people write them; returns them."""
    try:
        addresses = read_addresses(text)
    except ValueError as error:
        yield Step("Address", False, str(error))
        return []
    count = len(addresses)
    yield Step("Address", True, f"{count} address{'es' if count > 1 else ''} to try.")
    return addresses


def looked_up(addresses: Sequence[Address]) -> Iterator[Step]:
    """Look up each name."""
    places = []
    for host, port in addresses:
        try:
            places.append(f"{host} is {resolve(host, port)[0]}")
        except Forbidden as error:
            yield Step("Name", False, str(error))
            return
        except OSError as error:
            yield Step("Name", False, f"{host} has no address: {error.strerror or error}.")
            return
    yield Step("Name", True, f"{', '.join(places)}.")


def knocked(addresses: Sequence[Address]) -> Generator[Step, None, list[Address]]:
    """Knock at each address; returns those that accept."""
    reached, said = [], []
    for host, port in addresses:
        try:
            connect(host, port).close()
        except OSError as error:
            said.append(f"{host}:{port} does not accept connections: {error.strerror or error}")
        else:
            reached.append((host, port))
            said.append(f"{host}:{port} accepts")
    yield Step("Connection", bool(reached), f"{'; '.join(said)}.")
    return reached


def tls(host: str, port: int, *, authority: str | None = None) -> Step:
    """Speak TLS with a server whose certificate `authority` has signed, or who is well known."""
    context = ssl.create_default_context(cadata=authority)
    try:
        with (
            connect(host, port) as plain,
            context.wrap_socket(plain, server_hostname=host) as encrypted,
        ):
            certificate: Any = encrypted.getpeercert() or {}
            until = certificate.get("notAfter", "")
            said = f"{encrypted.version()}; the certificate of {host} is good until {until}."
            return Step("TLS", True, said)
    except ssl.SSLCertVerificationError as error:
        reason = error.verify_message.rstrip(".")
        advice = _ADVICE.get(reason, "")
        said = f"The certificate of {host}:{port} is not trusted: {reason}. {advice}"
        return Step("TLS", False, said.strip())
    except OSError as error:
        reason = getattr(error, "reason", None) or error.strerror or str(error)
        return Step("TLS", False, f"{host}:{port} does not speak TLS as we do: {reason}.")


def connect(host: str, port: int) -> socket.socket:
    """A connection to the first address of a host that accepts. Raises OSError, Forbidden."""
    refusal: OSError | None = None
    # Not by the name: it was the addresses behind it that were found to be harmless.
    for address in resolve(host, port):
        try:
            return socket.create_connection((address, port), timeout=SECONDS)
        except OSError as error:
            refusal = error
    raise refusal or OSError(f"{host} has no address")
