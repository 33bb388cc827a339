"""How clients reach a secured Kafka and log in: Spark's in Java's words, ours in librdkafka's."""

from collections.abc import Mapping
from typing import Any

# A connection to Kafka: `bootstrap_servers`, and where it is secured `security_protocol`,
# `sasl_mechanism`, `username`, `password`, `ca_certificate`, `client_certificate`, `client_key`.
Cluster = Mapping[str, Any]

_LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


def is_secured(cluster: Cluster) -> bool:
    """Whether its clients need more than addresses."""
    return bool(cluster.get("security_protocol", "PLAINTEXT") != "PLAINTEXT")


def options_key(name: str) -> str:
    """What Spark's configuration calls the options of a connection, which are JSON."""
    return f"spark.headrace.connection.{name}.options"


def spark_options(cluster: Cluster) -> dict[str, str]:
    """What Spark's reader and writer need beside the bootstrap servers; secrets are among it."""
    if not is_secured(cluster):
        return {}
    options = {"kafka.security.protocol": cluster["security_protocol"]}
    if mechanism := cluster.get("sasl_mechanism"):
        user, password = _quoted(cluster["username"]), _quoted(cluster["password"])
        options["kafka.sasl.mechanism"] = mechanism
        options["kafka.sasl.jaas.config"] = (
            f"{_LOGIN_MODULES[mechanism]} required username={user} password={password};"
        )
    if trusted := cluster.get("ca_certificate"):
        options["kafka.ssl.truststore.type"] = "PEM"
        options["kafka.ssl.truststore.certificates"] = trusted
    if certificate := cluster.get("client_certificate"):
        options["kafka.ssl.keystore.type"] = "PEM"
        options["kafka.ssl.keystore.certificate.chain"] = certificate
        options["kafka.ssl.keystore.key"] = cluster["client_key"]
    return options


def client_options(cluster: Cluster) -> dict[str, str]:
    """The settings by which our own clients reach a cluster; secrets may be among them."""
    names = {
        "bootstrap.servers": "bootstrap_servers",
        "security.protocol": "security_protocol",
        "sasl.mechanism": "sasl_mechanism",
        "sasl.username": "username",
        "sasl.password": "password",
        "ssl.ca.pem": "ca_certificate",
        "ssl.certificate.pem": "client_certificate",
        "ssl.key.pem": "client_key",
    }
    return {option: str(cluster[name]) for option, name in names.items() if cluster.get(name)}


def _quoted(text: str) -> str:
    """A text as a value of Java's login configuration, which is read like a C string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
