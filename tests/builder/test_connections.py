"""Connections, and what a real cluster says through them."""

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from django.contrib.auth.models import User

from builder.connections import kafka
from builder.connections.columns import columns_of
from builder.connections.models import Connection
from builder.deployments import actions
from builder.deployments.models import Deployment
from builder.deployments.preflight import hindrance
from builder.deployments.reconcile import reconcile
from builder.deployments.tasks import remove_topics


@pytest.fixture
def cluster(broker: str) -> Connection:
    return Connection.objects.create(name="local", bootstrap_servers=broker)


def produce(broker: str, topic: str, *records: tuple[str | None, bytes | None]) -> None:
    producer = Producer({"bootstrap.servers": broker})
    for key, value in records:
        producer.produce(topic, value, key)
    assert producer.flush(10) == 0


def test_made_changed_listed_deleted(api: Any) -> None:
    made = api.post(
        "/connections", {"name": "prod", "bootstrap_servers": "a.example:9092, b.example:9093"}, 201
    )
    assert made["bootstrap_servers"] == "a.example:9092,b.example:9093"
    path = f"/connections/{made['id']}"
    again = {"name": "prod", "bootstrap_servers": "c.example:1"}
    assert "prod" in api.post("/connections", again, 409)["detail"]
    assert api.put(path, again)["bootstrap_servers"] == "c.example:1"
    api.post("/connections", {"name": "other", "bootstrap_servers": "[::1]:9092"}, 201)
    api.put(path, {"name": "other", "bootstrap_servers": "c:1"}, 409)
    assert [c["name"] for c in api.get("/connections?search=ro")["items"]] == ["prod"]
    api.delete(path)
    api.get(path, 404)


@pytest.mark.parametrize(
    "servers",
    [
        "", "a", "a:", "a:0", "a:99999", "a:b", "a:1,", "a:1;sasl.jaas.config=x", "a b:1",
        "http://a:1", "169.254.169.254:80", "[fe80::1]:9092", "0.0.0.0:9092",
    ],
)  # fmt: skip
def test_what_is_no_address(servers: str, api: Any) -> None:
    answer = api.post("/connections", {"name": "x", "bootstrap_servers": servers}, 422)
    assert answer["problems"][0]["field"] == "bootstrap_servers"
    assert not Connection.objects.exists()


@pytest.mark.parametrize("name", ["", "9a", "A", "a b", "a" * 64, "../a", "a\n"])
def test_what_is_no_name(name: str, api: Any) -> None:
    api.post("/connections", {"name": name, "bootstrap_servers": "a:1"}, 422)


def test_a_test_tells_each_step(api: Any, cluster: Connection) -> None:
    answer = api.post(f"/connections/{cluster.pk}/test")
    assert answer["ok"]
    assert [s["name"] for s in answer["steps"]] == [
        "Address", "Name", "Connection", "Kafka", "Topics",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("servers", "last", "says"),
    [
        ("127.0.0.1:1", "Connection", "refused"),
        ("no-such-host.invalid:9092", "Name", "no-such-host.invalid"),
    ],
)
def test_a_test_stops_where_it_fails(servers: str, last: str, says: str, api: Any) -> None:
    made = api.post("/connections", {"name": "x", "bootstrap_servers": servers}, 201)
    answer = api.post(f"/connections/{made['id']}/test")
    assert not answer["ok"]
    assert [s["ok"] for s in answer["steps"]].index(False) == len(answer["steps"]) - 1
    assert answer["steps"][-1]["name"] == last
    assert says in answer["steps"][-1]["message"]


def test_topics_are_made_and_listed(api: Any, cluster: Connection) -> None:
    path = f"/connections/{cluster.pk}/topics"
    assert api.post(path, {"topic": "orders", "partitions": 3}, 201) == {
        "topic": "orders", "partitions": 3,
    }  # fmt: skip
    assert {"topic": "orders", "partitions": 3} in api.get(path)["items"]
    assert "orders" in api.post(path, {"topic": "orders"}, 409)["detail"]
    for topic in ("", "a b", "a/b", "x" * 250):
        api.post(path, {"topic": topic}, 422)
    api.post(path, {"topic": "none", "partitions": 0}, 422)


def test_a_sample_is_the_newest_rows_with_their_columns(
    api: Any, cluster: Connection, broker: str
) -> None:
    api.post(f"/connections/{cluster.pk}/topics", {"topic": "views", "partitions": 1}, 201)
    at = datetime.now(UTC).isoformat()
    rows = [{"user": f"u{n}", "n": n, "at": at, "tags": ["a"]} for n in range(30)]
    produce(broker, "views", *((r["user"], json.dumps(r).encode()) for r in rows))
    answer = api.get(f"/connections/{cluster.pk}/topics/views/sample?limit=5")
    assert [row["_offset"] for row in answer["rows"]] == [25, 26, 27, 28, 29]
    assert answer["rows"][0]["_key"] == "u25"
    assert answer["format"] == "json"
    assert answer["columns"] == [
        {"name": "user", "type": "string"}, {"name": "n", "type": "bigint"},
        {"name": "at", "type": "timestamp"}, {"name": "tags", "type": "array<string>"},
    ]  # fmt: skip

    api.post("/environments", {"name": "shown", "masks": ["user"]}, 201)
    again = api.get(f"/connections/{cluster.pk}/topics/views/sample?limit=5")
    assert {json.loads(row["_value"])["user"] for row in again["rows"]} == {"•••"}
    assert {record["user"] for record in again["records"]} == {"•••"}
    assert again["columns"] == answer["columns"]


def test_a_sample_of_anything_else(api: Any, cluster: Connection, broker: str) -> None:
    path = f"/connections/{cluster.pk}/topics"
    api.post(path, {"topic": "mixed", "partitions": 2}, 201)
    empty = api.get(f"{path}/mixed/sample")
    assert (empty["rows"], empty["format"]) == ([], "text")
    produce(broker, "mixed", (None, b"\xff\x00plain"), ("k", None), (None, b"{}"))
    answer = api.get(f"{path}/mixed/sample")
    assert len(answer["rows"]) == 3
    assert {row["_value"] for row in answer["rows"]} == {"\ufffd\ufffdplain", None, "{}"}
    assert answer["columns"] == [{"name": "value", "type": "string"}]
    api.get(f"{path}/nothing/sample", 404)
    api.get(f"{path}/mixed/sample?limit=0", 422)
    assert api.call("GET", f"{path}/a%20b/sample").status_code == 422


def test_a_sample_of_garbage(api: Any, cluster: Connection, broker: str) -> None:
    path = f"/connections/{cluster.pk}/topics"
    api.post(path, {"topic": "garbage", "partitions": 1}, 201)
    chance = random.Random(1)
    noise = [chance.randbytes(chance.randrange(2_000)) for _ in range(200)]
    halves = [b'{"a": ', b"[" * 5_000, b'{"a": NaN}', b'{"a": 1e400}', b'"\\ud800"', b"\0", b""]
    produce(broker, "garbage", *((None, value) for value in [*noise, *halves]))
    answer = api.get(f"{path}/garbage/sample?limit=100")
    assert (len(answer["rows"]), answer["format"]) == (100, "text")
    assert answer["columns"] == [{"name": "value", "type": "string"}]
    produce(broker, "garbage", (None, b'{"a": 1}'))
    newest = api.get(f"{path}/garbage/sample?limit=1")
    assert newest["columns"] == [{"name": "a", "type": "bigint"}]


def test_a_sample_of_csv(api: Any, cluster: Connection, broker: str) -> None:
    path = f"/connections/{cluster.pk}/topics"
    api.post(path, {"topic": "sold", "partitions": 1}, 201)
    lines = ['"tea, green",1,1.5,true,2026-01-31T12:00:00Z', "cup,,2,,", "a\rb", "x,3,4,false,"]
    produce(broker, "sold", *((None, line.encode()) for line in lines), ("gone", None))
    answer = api.get(f"{path}/sold/sample?format=csv")
    assert answer["format"] == "csv"
    types = ["string", "bigint", "double", "boolean", "timestamp"]
    assert [column["type"] for column in answer["columns"]] == types
    assert [column["name"] for column in answer["columns"]][::4] == ["column1", "column5"]
    assert [record.get("value") for record in answer["records"]] == [*lines, None]


def test_records_are_rows_to_rehearse_with(api: Any, cluster: Connection, broker: str) -> None:
    path = f"/connections/{cluster.pk}/topics"
    api.post(path, {"topic": "taken", "partitions": 1}, 201)
    large = {"a": "x" * 50_000}
    odd = ['{"_id": 1}', "plain", "[1]", '{"a": NaN}', '{"a": "\\ud800"}', "[" * 5000, ""]
    produce(
        broker, "taken",
        ("k", b'{"a": 1, "b": {"c": [1.50, null]}}'), (None, json.dumps(large).encode()),
        ("gone", None), *((None, text.encode()) for text in odd),
    )  # fmt: skip
    answer = api.get(f"{path}/taken/sample")
    assert answer["format"] == "text"
    records = answer["records"]
    times = [record.pop("_timestamp") for record in records]
    assert times == [row["_timestamp"] for row in answer["rows"]]
    assert datetime.fromisoformat(times[0]).tzinfo is not None
    assert records[:3] == [
        {"a": 1, "b": {"c": [1.5, None]}, "_key": "k"},
        {**large, "_key": None},
        {"_key": "gone", "_deleted": True},
    ]
    assert records[3:] == [{"value": text, "_key": None} for text in odd]
    assert len(answer["rows"][1]["_value"]) == 10_000
    told = api.get(f"{path}/taken/sample?format=text&limit=10")["records"]
    assert told[0]["value"] == '{"a": 1, "b": {"c": [1.50, null]}}'
    assert (told[2]["_deleted"], "value" in told[2]) == (True, False)


def test_large_json_is_json(api: Any, cluster: Connection, broker: str) -> None:
    path = f"/connections/{cluster.pk}/topics"
    api.post(path, {"topic": "large", "partitions": 1}, 201)
    value = json.dumps({"n": 1, "text": "ü" * 450_000}, ensure_ascii=False).encode()
    produce(broker, "large", *[(None, value)] * 12)
    answer = api.get(f"{path}/large/sample")
    assert answer["format"] == "json"
    assert len(answer["records"]) == 9, "no more than 8 MB are answered at once"
    assert [row["_offset"] for row in answer["rows"]] == list(range(3, 12))
    answer = api.get(f"{path}/large/sample?since=2000-01-01T00:00:00Z")
    assert [row["_offset"] for row in answer["rows"]] == list(range(9))


def test_a_sample_since_a_time(api: Any, cluster: Connection, broker: str) -> None:
    path = f"/connections/{cluster.pk}/topics"
    api.post(path, {"topic": "timed", "partitions": 3}, 201)
    start = datetime(2026, 5, 1, 12, tzinfo=UTC)
    producer = Producer({"bootstrap.servers": broker})
    for n in range(300):
        at = int((start + timedelta(seconds=n)).timestamp() * 1000)
        producer.produce("timed", json.dumps({"n": n}), partition=n % 3, timestamp=at)
    # One that came late stands behind younger ones.
    late = int((start - timedelta(hours=1)).timestamp() * 1000)
    producer.produce("timed", json.dumps({"n": -1}), partition=0, timestamp=late)
    assert producer.flush(10) == 0

    def taken(query: str) -> list[int]:
        return [record["n"] for record in api.get(f"{path}/timed/sample?{query}")["records"]]

    assert taken("since=2026-05-01T12:01:40Z&limit=5") == [100, 101, 102, 103, 104]
    assert taken("since=2026-05-01T14:01:40%2B02:00&limit=2") == [100, 101]
    assert taken("since=2026-05-01T12:01:39.500&limit=2") == [100, 101]
    assert taken("since=2026-05-01T12:04:58Z&limit=50") == [298, 299]
    assert taken("since=2026-05-01T10:00:00Z&limit=2") == [0, 1], "in the order of the topic"
    assert taken("since=2026-05-01T12:01:40Z&limit=1000") == list(range(100, 300))
    assert taken("since=1900-01-01T00:00:00Z&limit=1") == [0]
    assert taken("since=2026-05-02T00:00:00Z") == []
    assert taken("since=9999-12-31T23:59:59Z") == []
    assert taken("limit=2") == [298, 299]
    assert len(taken("limit=1000")) == 301
    for wrong in ("since=yesterday", "limit=1001", "format=xml"):
        api.get(f"{path}/timed/sample?{wrong}", 422)


@pytest.mark.parametrize(
    ("values", "spark_type"),
    [
        ([1, 2], "bigint"), ([1, 2.5], "double"), ([True, None], "boolean"), ([True, 1], "string"),
        (["2026-01-01"], "date"), (["2026-01-01T00:00:00Z"], "timestamp"), (["x", 1], "string"),
        ([None], "string"), ([[1], [2]], "array<bigint>"), ([{"a": 1}], "struct<a:bigint>"),
        ([{"a b": 1}], "map<string,string>"),
        ([{"a": {"b": [1.5]}}], "struct<a:struct<b:array<double>>>"),
        ([{"a": 1}, {"b": "x"}, None], "struct<a:bigint,b:string>"), ([{}], "map<string,string>"),
        ([{"größe": 1}], "map<string,string>"), ([[], None, [None]], "array<string>"),
        ([[1, "x"], [2.5]], "array<string>"), ([[1], 1], "string"), ([{"a": 1}, [1]], "string"),
        ([[{"a": 1}], [{"a": 2.5}]], "array<struct<a:double>>"),
        (["2026-01-01 00:00", "2026-01-01T00:00:00.123+01:00"], "timestamp"),
        (["2026-13-01T00:00:00Z"], "string"), (["2026-02-30"], "string"),
        (["2026-01-01", "2026-01-01T00:00:00Z"], "string"), ([""], "string"),
    ],
)  # fmt: skip
def test_columns_are_inferred(values: list[Any], spark_type: str) -> None:
    assert columns_of({"x": value} for value in values) == [{"name": "x", "type": spark_type}]


def test_a_cluster_that_is_away(api: Any, local: Connection, monkeypatch: Any) -> None:
    monkeypatch.setattr(kafka, "TIMEOUT", 0.5)
    path = f"/connections/{local.pk}/topics"
    assert "127.0.0.1:1" in api.get(path, 502)["detail"]
    api.post(path, {"topic": "x"}, 502)
    api.get(f"{path}/x/sample", 502)


@pytest.mark.django_db(transaction=True)
def test_a_missing_topic_is_named_and_making_it_starts_the_job(
    api: Any, admin: User, cluster: Connection, redis_server: str, monkeypatch: Any
) -> None:
    import redis

    from builder.deployments import process
    from tests.builder.small_job import launch_small

    graph = {
        "version": 1,
        "steps": [
            {"id": "orders", "type": "kafka_source",
             "config": {"connection": "local", "topics": ["not-yet"], "format": "text"}},
            {"id": "out", "type": "kafka_sink", "config": {"connection": "local", "topic": "o"}},
        ],
        "edges": [{"from": "orders", "to": "out"}],
    }  # fmt: skip
    pipeline = api.post("/pipelines", {"graph": graph}, 201)
    deployment, _ = actions.deploy(admin, pipeline["id"])
    reconcile(deployment.pk)
    said = api.get(f"/deployments/{deployment.pk}")
    assert (said["state"], said["step"]) == ("backing_off", "orders")
    assert said["missing_topics"] == [{"connection": "local", "topic": "not-yet"}]
    assert "not-yet" in said["message"]
    assert said["runs"] == [], "no process is started in vain"

    queue = redis.Redis.from_url(redis_server)
    queue.delete("control")
    api.post(f"/connections/{cluster.pk}/topics", {"topic": "not-yet"}, 201)
    assert queue.llen("control") == 1
    assert hindrance(Deployment.objects.get()) is None
    started: list[Path] = []

    def launch(folder: Path) -> Any:
        started.append(folder)
        return launch_small(folder)

    monkeypatch.setattr(process.launcher, "launch", launch)
    Deployment.objects.update(script="import time; time.sleep(60)")
    reconcile(deployment.pk)
    now = Deployment.objects.get()
    assert (now.state, now.missing_topics, len(started)) == ("starting", [], 1)
    process.kill(now.runs.get())


def test_the_topics_of_a_pipeline_that_is_deleted_go(api: Any, cluster: Connection) -> None:

    servers = cluster.bootstrap_servers
    mine = {"headrace.captcha.action_counts.rows", "headrace.captcha.actions.dead-letters"}
    others = {"headrace.captcha-2.joined.rows", "browser-actions"}
    for topic in mine | others:
        kafka.create_topic(servers, topic, 1)
    remove_topics("captcha", ["local", "gone"])
    assert not mine & kafka.topic_partitions(servers).keys()
    assert others <= kafka.topic_partitions(servers).keys()


def test_topics_of_a_pipeline_that_is_deployed_stay(
    api: Any, cluster: Connection, admin: User
) -> None:
    made = api.post("/pipelines", {"template": "word-count"}, 201)
    deployment, _ = actions.deploy(admin, made["id"])
    topic = f"headrace.{deployment.name}.counts.rows"
    kafka.create_topic(cluster.bootstrap_servers, topic, 1)
    remove_topics(deployment.name, ["local"])
    assert topic in kafka.topic_partitions(cluster.bootstrap_servers)
