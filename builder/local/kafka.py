"""Embedded Kafka: one node, for one machine."""

import base64
import os
import random
import socket
import subprocess
import uuid
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from builder.local.java import java_home
from builder.local.process import DidNotStart, Server, start, tail, wait_until
from runner.jars import broker_jars

# Below the range from which Linux takes the ports of outgoing connections, so that a port
# once chosen is not lost to a browser's connection between two starts.
PORTS = range(20_000, 32_000)

SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={logs}
auto.create.topics.enable=true
num.partitions=2
group.initial.rebalance.delay.ms=0
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
log.cleaner.dedupe.buffer.size=33554432
"""


def start_kafka(data: Path, more: str = "") -> Server:
    """Start a broker that keeps its records under `data`, and wait until it serves.

    `url` is its bootstrap servers. The port is chosen at the first start and kept in
    `data`; another is chosen when something else holds it. `more` are settings in the words of
    SETTINGS, which overrule those. Raises DidNotStart when the broker ends early,
    FileNotFoundError where Java or the jars are missing.
    """
    kafka = launch_kafka(data, more)
    try:
        wait_for_kafka(kafka, data)
    except DidNotStart:
        if _is_free(int(kafka.url.rpartition(":")[2])):
            raise
        # Something took the port between the choice and the start.
        kafka = launch_kafka(data, more)
        wait_for_kafka(kafka, data)
    return kafka


def launch_kafka(data: Path, more: str = "") -> Server:
    """Start a broker without waiting for it; `wait_for_kafka` is the other half."""
    folder = data.resolve() / "kafka"
    folder.mkdir(parents=True, exist_ok=True)
    port = _kept_port(folder / "port")
    controller = free_port(but=port)
    settings = folder / "server.properties"
    text = f"{SETTINGS}{more}"
    settings.write_text(text.format(port=port, controller=controller, logs=folder / "records"))
    log = data / "logs" / "kafka.log"
    if not (folder / "records" / "meta.properties").exists():
        _format(folder, settings)
    command = [*_java("-Xmx512m"), "kafka.Kafka", settings]
    return Server("Kafka", f"127.0.0.1:{port}", command, log, start(command, log))


def wait_for_kafka(kafka: Server, data: Path, seconds: float = 60) -> None:
    """Return once this very broker answers; raises DidNotStart when it doesn't."""
    expected = (data / "kafka" / "cluster-id").read_text().strip()
    wait_until(
        lambda: _cluster_at(kafka.url) == expected,
        kafka.process,
        kafka.log,
        name="Kafka",
        seconds=seconds,
    )


def _format(folder: Path, settings: Path) -> None:
    cluster = _cluster_id()
    command = [*_java("-Xmx128m"), "kafka.tools.StorageTool", "format", "-t", cluster]
    log = folder / "format.log"
    with log.open("wb") as out:
        done = subprocess.run([*command, "-c", settings], stdout=out, stderr=subprocess.STDOUT)
    if done.returncode:
        raise DidNotStart(f"Kafka's folder could not be made ready.\n{tail(log)}")
    (folder / "cluster-id").write_text(cluster)


def _java(memory: str) -> list[str | Path]:
    classpath = os.pathsep.join(map(str, broker_jars()))
    java = java_home() / "bin" / "java"
    return [java, memory, "-Dlog4j2.level=WARN", "-cp", classpath]


def _cluster_id() -> str:
    # Kafka takes a leading dash for an option.
    while (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("="))[0] == "-":
        pass
    return text


def _cluster_at(servers: str) -> str | None:
    host, _, port = servers.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
        metadata = AdminClient({"bootstrap.servers": servers, "log_level": 0}).list_topics(
            timeout=5
        )
    except (OSError, KafkaException):
        return None
    return str(metadata.cluster_id)


def _kept_port(path: Path) -> int:
    if path.exists() and _is_free(kept := int(path.read_text())):
        return kept
    port = free_port()
    path.write_text(str(port))
    return port


def free_port(but: int | None = None) -> int:
    """A port of this machine that nothing listens on."""
    while (port := random.choice(PORTS)) == but or not _is_free(port):
        pass
    return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the broker itself does: connections that are only fading away are no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
