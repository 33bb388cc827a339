"""What there is to say of a connection, by its type.

Only what is listed here gets through: no free option of a client or a driver, by which one might
load a class, run a statement or read a file.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from django.conf import settings
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from builder.connections.addresses import (
    HOST,
    check_host,
    check_not_ours,
    read_addresses,
)

Fault = tuple[str, str]


def _sound_addresses(text: str) -> str:
    read_addresses(text)
    return ",".join(part.strip() for part in text.split(","))


def _sound_host(text: str) -> str:
    check_host(text.strip("[]"))
    return text.strip("[]")


def _sound_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError("Write it as https://host:port.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError("Write it as https://host:port.")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("It has a host, a port and a path only; user and password go elsewhere.")
    check_host(parts.hostname)
    return text.rstrip("/")


def _certificates(text: str) -> str:
    try:
        found = x509.load_pem_x509_certificates(text.encode())
    except ValueError:
        raise ValueError("This is no certificate in PEM, -----BEGIN CERTIFICATE-----.") from None
    # Without what people write between them, which Java can't read.
    return "".join(c.public_bytes(serialization.Encoding.PEM).decode() for c in found)


def _private_key(text: str) -> str:
    try:
        key = serialization.load_pem_private_key(text.encode(), password=None)
    except TypeError:
        raise ValueError("The key has a password of its own; take it off first.") from None
    except ValueError:
        raise ValueError("This is no private key in PEM, -----BEGIN PRIVATE KEY-----.") from None
    # The one form that Java reads.
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def folder_inside(text: str) -> str:
    """The folder that is meant, without links. Raises ValueError where it is not below the root."""
    root = Path(settings.HEADRACE_FILES).resolve()
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = (root / text).resolve()
    if not folder.is_relative_to(root):
        raise ValueError("The folder is not below the one that the administrator has set apart.")
    if not folder.is_dir():
        raise ValueError(f"There is no folder {text} here.")
    return str(folder)


_Line = Annotated[
    str, StringConstraints(min_length=1, max_length=1000, pattern=r"^[^\x00-\x1f\x7f]+$")
]
_Pem = Annotated[str, StringConstraints(max_length=100_000)]


class ConnectionType(BaseModel):
    """What every type has in common: `secrets` names those of its fields that never come out."""

    # An error must not repeat what may be a secret.
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    secrets: ClassVar[tuple[str, ...]] = ("password",)

    @model_validator(mode="before")
    @classmethod
    def _nothing_for_empty(cls, data: Any) -> Any:
        if isinstance(data, dict):
            return {name: value for name, value in data.items() if value not in (None, "")}
        return data

    def faults(self) -> Iterator[Fault]:
        """What is wrong with the fields together, each with the field to mend."""
        yield from ()

    def meant(self) -> set[str]:
        """The fields that mean something, as the others are."""
        return set(type(self).model_fields)

    def given(self) -> dict[str, Any]:
        """The fields that are not as they are by themselves."""
        return self.model_dump(exclude_defaults=True)


class Kafka(ConnectionType):
    """A Kafka cluster."""

    secrets = ("password", "client_key")

    bootstrap_servers: Annotated[str, Field(max_length=1000), AfterValidator(_sound_addresses)]
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None = None
    username: _Line | None = None
    password: _Line | None = Field(None, repr=False)
    ca_certificate: Annotated[_Pem, AfterValidator(_certificates)] | None = None
    client_certificate: Annotated[_Pem, AfterValidator(_certificates)] | None = None
    client_key: Annotated[_Pem, AfterValidator(_private_key)] | None = Field(None, repr=False)

    _of_sasl: ClassVar[tuple[str, ...]] = ("sasl_mechanism", "username", "password")
    _of_tls: ClassVar[tuple[str, ...]] = ("ca_certificate", "client_certificate", "client_key")

    def meant(self) -> set[str]:
        """With SASL it needs an account, with TLS it may have certificates."""
        meant = {"bootstrap_servers", "security_protocol"}
        if self.security_protocol.startswith("SASL_"):
            meant.update(self._of_sasl)
        if self.security_protocol.endswith("SSL"):
            meant.update(self._of_tls)
        if self.client_certificate is None:
            meant.discard("client_key")
        return meant

    def faults(self) -> Iterator[Fault]:
        """An account is whole, and so are a certificate and its key."""
        for name in self._of_sasl:
            if name in self.meant() and getattr(self, name) is None:
                yield name, f"{self.security_protocol} needs it."
        if self.client_certificate is None:
            return
        if self.client_key is None:
            yield "client_key", "It is needed beside the certificate."
        else:
            certificate = x509.load_pem_x509_certificate(self.client_certificate.encode())
            key = serialization.load_pem_private_key(self.client_key.encode(), password=None)
            if certificate.public_key() != key.public_key():
                yield "client_key", "This is not the key of the certificate."


class Postgresql(ConnectionType):
    """A PostgreSQL database."""

    host: Annotated[str, StringConstraints(pattern=f"^({HOST})$"), AfterValidator(_sound_host)]
    port: int = Field(5432, ge=1, le=65535)
    # No character by which the address of a database could go on with options.
    database: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.$-]{0,62}$")]
    user: _Line
    password: _Line | None = Field(None, repr=False)
    sslmode: Literal["disable", "prefer", "require", "verify-full"] = "prefer"

    def faults(self) -> Iterator[Fault]:
        """Headrace's own data is no place to write to."""
        try:
            check_not_ours(self.host, self.port)
        except ValueError as error:
            yield "host", str(error)


class Files(ConnectionType):
    """A folder of the server."""

    secrets = ()

    folder: Annotated[str, Field(max_length=1000), AfterValidator(folder_inside)]


class SchemaRegistry(ConnectionType):
    """A registry of schemas."""

    url: Annotated[str, Field(max_length=1000), AfterValidator(_sound_url)]
    user: _Line | None = None
    password: _Line | None = Field(None, repr=False)

    def meant(self) -> set[str]:
        """A password is somebody's."""
        return super().meant() - ({"password"} if self.user is None else set())

    def faults(self) -> Iterator[Fault]:
        """An account is whole."""
        if self.user is not None and self.password is None:
            yield "password", "It is needed beside the user."


TYPES: dict[str, type[ConnectionType]] = {
    "kafka": Kafka,
    "postgresql": Postgresql,
    "files": Files,
    "schema_registry": SchemaRegistry,
}


class Unsound(Exception):
    """What was said of a connection can't be; `faults` names each field and why."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("; ".join(f"{field}: {message}" for field, message in faults))
        self.faults = faults


def read(type_: str, given: dict[str, Any], kept: dict[str, str]) -> ConnectionType:
    """What is said of a connection of a type, with those `kept` secrets that it still needs.

    Raises Unsound with all that is wrong.
    """
    kind = TYPES[type_]
    try:
        alone = kind.model_validate(given)
        useless = [n for n in alone.given() if n not in alone.meant()]
        if useless:
            message = "As the other fields are it has no use; remove it."
            raise Unsound([(name, message) for name in useless])
        needed = {n: v for n, v in kept.items() if n in alone.meant() and n not in given}
        said = kind.model_validate({**given, **needed})
    except ValidationError as error:
        raise Unsound([_fault(e) for e in error.errors()]) from None
    if faults := list(said.faults()):
        raise Unsound(faults)
    return said


def _fault(error: Any) -> Fault:
    field = ".".join(str(part)[:70] for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return field, "This is not a field here; remove it."
    if error["type"] == "missing":
        return field, "It is needed."
    text = str(error["msg"]).removeprefix("Value error, ").rstrip(".")
    return field, f"{text}."
