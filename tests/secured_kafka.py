"""A real Kafka that lets in only whom it knows: by name and password, or by certificate."""

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from builder.local.kafka import free_port, start_kafka

USER = "grace"
# With what a login configuration, a shell and a program would each take for its own.
PASSWORD = 's3cr3t\' "quoted" \\n ${env:HOME} #; =x'
PLAIN_USER, PLAIN_PASSWORD = "ada", "plain-s3cr3t"

_SETTINGS = """\
listeners=PLAINTEXT://127.0.0.1:{{port}},CONTROLLER://127.0.0.1:{{controller}},\
SECURED://127.0.0.1:{secured},MUTUAL://127.0.0.1:{mutual}
advertised.listeners=PLAINTEXT://127.0.0.1:{{port}},SECURED://127.0.0.1:{secured},\
MUTUAL://127.0.0.1:{mutual}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURED:SASL_SSL,MUTUAL:SSL
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512
listener.name.secured.scram-sha-512.sasl.jaas.config=\
org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.secured.plain.sasl.jaas.config=\
org.apache.kafka.common.security.plain.PlainLoginModule required user_{user}="{password}";
ssl.keystore.type=PEM
ssl.keystore.location={keystore}
ssl.truststore.type=PEM
ssl.truststore.location={truststore}
listener.name.mutual.ssl.client.auth=required
"""


@dataclass(frozen=True)
class Identity:
    """A certificate and its key, in PEM."""

    certificate: str
    key: str


@dataclass(frozen=True)
class SecuredKafka:
    """Where it listens, and what one needs to be let in."""

    open: str
    secured: str
    mutual: str
    authority: str
    client: Identity

    def cluster(self, **changed: Any) -> dict[str, Any]:
        """A connection with name and password, its secrets included, as the runner takes it."""
        return {
            "type": "kafka",
            "bootstrap_servers": self.secured,
            "security_protocol": "SASL_SSL",
            "sasl_mechanism": "SCRAM-SHA-512",
            "username": USER,
            "password": PASSWORD,
            "ca_certificate": self.authority,
            **changed,
        }

    def mutual_cluster(self) -> dict[str, Any]:
        """A connection with a certificate of ours."""
        return {
            "type": "kafka",
            "bootstrap_servers": self.mutual,
            "security_protocol": "SSL",
            "ca_certificate": self.authority,
            "client_certificate": self.client.certificate,
            "client_key": self.client.key,
        }


class Authority:
    """Signs certificates."""

    def __init__(self, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        builder = _begun(self._name, self._name, self._key).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        self.certificate = _pem(builder.sign(self._key, hashes.SHA256()))

    def identity(self, name: str) -> Identity:
        """A certificate for somebody on this machine."""
        key = ec.generate_private_key(ec.SECP256R1())
        hosts = [
            x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
        ]  # fmt: skip
        builder = _begun(_name(name), self._name, key).add_extension(
            x509.SubjectAlternativeName(hosts), critical=False
        )
        text = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode()
        return Identity(_pem(builder.sign(self._key, hashes.SHA256())), text)


@contextmanager
def secured_kafka(folder: Path) -> Iterator[SecuredKafka]:
    """Start it, make its users, and stop it."""
    authority = Authority("Test authority")
    broker = authority.identity("broker")
    keystore, truststore = folder / "broker.pem", folder / "authority.pem"
    keystore.write_text(broker.key + broker.certificate)
    truststore.write_text(authority.certificate)
    secured = free_port()
    mutual = free_port(but=secured)
    settings = _SETTINGS.format(
        secured=secured,
        mutual=mutual,
        keystore=keystore,
        truststore=truststore,
        user=PLAIN_USER,
        password=PLAIN_PASSWORD,
    )
    with start_kafka(folder, settings) as server:
        known = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        user = UserScramCredentialUpsertion(USER, known, PASSWORD.encode())
        admin = AdminClient({"bootstrap.servers": server.url})
        for done in admin.alter_user_scram_credentials([user]).values():
            done.result(timeout=20)
        yield SecuredKafka(
            server.url,
            f"127.0.0.1:{secured}",
            f"127.0.0.1:{mutual}",
            authority.certificate,
            authority.identity("client"),
        )


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()
