"""Jobs on a Kafka that lets in only whom it knows, and what they may never tell."""

import ast
import json
import os
import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from runner.compile import compile_job
from runner.graph import read_graph
from runner.kafka_login import client_options, spark_options
from runner.launch import SECRETS
from runner.topics import NotReady, make_ready
from tests.secured_kafka import PASSWORD, Authority, secured_kafka

_OF_US = ("password", "client_key")


@pytest.fixture(scope="module")
def kafka(tmp_path_factory):
    with secured_kafka(tmp_path_factory.mktemp("secured")) as running:
        yield running


def divided(lines, out):
    return {
        "version": 1,
        "steps": [
            {"id": "lines", "type": "kafka_source", "config": {
                "connection": "local", "topics": [lines],
                "columns": [{"name": "word", "type": "string"}, {"name": "n", "type": "int"}]}},
            {"id": "counts", "type": "aggregate", "config": {
                "group_by": ["word"],
                "aggregations": [{"name": "total", "function": "sum", "expression": "100 / n"}]}},
            {"id": "out", "type": "kafka_sink", "config": {"connection": "local", "topic": out}},
        ],
        "edges": [{"from": "lines", "to": "counts"}, {"from": "counts", "to": "out"}],
    }  # fmt: skip


def parts(cluster):
    """What of a connection stands in its run's folder, and what is told its process alone."""
    told = {name: value for name, value in cluster.items() if name in _OF_US}
    return {name: value for name, value in cluster.items() if name not in _OF_US}, {"local": told}


def make_topic(cluster, name):
    # Kept until the answer is there: without it it never comes.
    admin = AdminClient(client_options(cluster))
    (made,) = admin.create_topics([NewTopic(name, 2)]).values()
    made.result(timeout=20)
    return name


def produce(cluster, topic, rows):
    producer = Producer(client_options(cluster))
    for row in rows:
        producer.produce(topic, json.dumps(row), key=row["word"])
    assert producer.flush(20) == 0


def newest(cluster, topic, wanted, seconds=40):
    """The newest row of each word, once they are as wanted."""
    settings = {"group.id": topic, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer({**client_options(cluster), **settings})
    consumer.subscribe([topic])
    found, deadline = {}, time.monotonic() + seconds
    while found != wanted and time.monotonic() < deadline:
        for message in consumer.consume(100, timeout=0.5):
            if not message.error():
                row = json.loads(message.value())
                found[row["word"]] = row["total"]
    consumer.close()
    return found


def seen_by_others(job):
    """All that others on the machine can see of a job's processes."""
    told = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(entry.name)) == job.process.pid:
                told += [(entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return told


def leaks(job, *secrets):
    """Where a secret stands that belongs nowhere: files of the deployment, lines of `ps`."""
    texts = [path.read_bytes() for path in job.folder.rglob("*") if path.is_file()]
    texts += seen_by_others(job)
    assert len(texts) >= 5
    forms = {form for s in secrets for form in (s, json.dumps(s)[1:-1], repr(s)[1:-1])}
    return [text[:200] for text in texts for form in forms if form.encode() in text]


def test_a_job_in_real_time_by_name_and_password(kafka, make_job):
    cluster = kafka.cluster()
    described, secrets = parts(cluster)
    lines, out = make_topic(cluster, "lines"), "counts-of-lines"
    job = make_job(divided(lines, out), mode="real_time", cluster=described, secrets=secrets)
    produce(cluster, lines, [{"word": "a", "n": 4}, {"word": "b", "n": 5}, {"word": "a", "n": 2}])
    job.start().wait_for("running", 60)
    assert newest(cluster, out, {"a": 75.0, "b": 20.0}) == {"a": 75.0, "b": 20.0}
    assert not (job.run / SECRETS).exists()
    assert leaks(job, PASSWORD) == []

    assert job.stop()["code"] == 0
    assert leaks(job, PASSWORD) == []


def test_a_job_by_certificate(kafka, make_job):
    cluster = kafka.mutual_cluster()
    described, secrets = parts(cluster)
    lines, out = make_topic(cluster, "signed"), "counts-of-signed"
    job = make_job(divided(lines, out), mode="micro_batch", cluster=described, secrets=secrets)
    produce(cluster, lines, [{"word": "a", "n": 4}])
    job.start().wait_for("running", 60)
    assert newest(cluster, out, {"a": 25.0}) == {"a": 25.0}
    key = cluster["client_key"].splitlines()[1]
    assert leaks(job, key) == []

    # What Spark says of a query that fails, with the options of its sources and sinks.
    produce(cluster, lines, [{"word": "a", "n": 0}])
    ended = job.wait_for_end(40)
    assert (ended["code"], "divides by zero" in ended["message"]) == (65, True), ended
    assert "DIVIDE_BY_ZERO" in job.log()
    assert leaks(job, key) == []


def without_certificate(kafka):
    ours = ("client_certificate", "client_key")
    return {n: value for n, value in kafka.mutual_cluster().items() if n not in ours}


def with_anothers_certificate(kafka):
    another = Authority("Others").identity("client")
    theirs = {"client_certificate": another.certificate, "client_key": another.key}
    return {**kafka.mutual_cluster(), **theirs}


@pytest.mark.parametrize("asking", [without_certificate, with_anothers_certificate])
def test_who_has_not_the_right_certificate_is_not_let_in(kafka, asking):
    topic = {"connection": "local", "step": "lines", "use": "read", "topic": "lines"}
    with pytest.raises(NotReady, match="refuses the credentials") as refused:
        make_ready([topic], {"local": asking(kafka)}, print)
    assert refused.value.permanent
    assert "certificate" in refused.value.message


def test_a_port_without_tls_is_told(kafka):
    topic = {"connection": "local", "step": "lines", "use": "read", "topic": "lines"}
    with pytest.raises(NotReady, match="no TLS") as away:
        make_ready([topic], {"local": kafka.cluster(bootstrap_servers=kafka.open)}, print)
    assert not away.value.permanent


@pytest.mark.parametrize(
    ("changed", "code", "says"),
    [
        ({"password": "another"}, 65, "refuses the credentials"),
        ({"username": "nobody"}, 65, "refuses the credentials"),
        ({"sasl_mechanism": "PLAIN"}, 65, "refuses the credentials"),
        ({"ca_certificate": Authority("Others").certificate}, 75, "no TLS"),
    ],
)
def test_a_job_that_is_not_let_in_ends_before_a_spark_is_started(
    kafka, make_job, changed, code, says
):
    described, secrets = parts(kafka.cluster(**changed))
    job = make_job(divided("lines", "out"), cluster=described, secrets=secrets).start()
    ended = job.wait_for_end(20)
    assert (ended["code"], ended["permanent"]) == (code, code == 65)
    assert says in ended["message"]
    assert "Starting Spark." not in [e["message"] for e in job.of_type("state")]
    assert not (job.run / SECRETS).exists()
    assert leaks(job, PASSWORD, "another") == []


def compiled(cluster):
    return compile_job(
        read_graph(divided("a", "b")), name="secured", connections={"local": cluster}
    ).script


def test_a_program_says_where_its_login_comes_from_and_not_which_it_is(kafka):
    script = compiled(kafka.cluster())
    assert "**json.loads(spark.conf.get('spark.headrace.connection.local.options'))" in (
        script.replace('"', "'")
    )
    ast.parse(script)
    for secret in (PASSWORD, "grace", "ScramLoginModule", "BEGIN"):
        assert secret not in script
    plain = {"type": "kafka", "bootstrap_servers": kafka.open}
    assert compiled(plain) == compiled({**plain, "security_protocol": "PLAINTEXT"})
    assert ".options')" not in compiled(plain).replace('"', "'")


def test_without_security_there_is_nothing_to_say():
    plain = {"type": "kafka", "bootstrap_servers": "a:1"}
    assert spark_options(plain) == {}
    assert client_options(plain) == {"bootstrap.servers": "a:1"}


def test_both_clients_are_told_the_same(kafka):
    options = spark_options({**kafka.mutual_cluster(), **kafka.cluster(password='a"b\\c')})
    assert all(name.startswith("kafka.") for name in options)
    assert options["kafka.sasl.jaas.config"] == (
        "org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="grace" password="a\\"b\\\\c";'
    )
    assert options["kafka.ssl.truststore.certificates"] == kafka.authority
    own = client_options(kafka.cluster())
    assert (own["sasl.username"], own["sasl.password"]) == ("grace", PASSWORD)
    assert own["ssl.ca.pem"] == kafka.authority
