"""The topics of a connection: looked at, searched and written to, on a real cluster."""

import base64
import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from django.contrib.auth.models import User

from builder.access.models import Activity
from builder.connections import kafka, records
from builder.connections.models import Connection
from builder.connections.records import Place, Span
from builder.deployments import actions
from builder.deployments.models import Deployment
from tests.builder.conftest import Api, user_with

GRAPH = {
    "version": 1,
    "steps": [
        {"id": "orders", "type": "kafka_source",
         "config": {"connection": "local", "topics": ["used"], "format": "text"}},
        {"id": "out", "type": "kafka_sink", "config": {"connection": "local", "topic": "given"}},
    ],
    "edges": [{"from": "orders", "to": "out"}],
}  # fmt: skip


@pytest.fixture
def cluster(broker: str) -> Connection:
    return Connection.objects.create(name="local", bootstrap_servers=broker)


@pytest.fixture
def path(api: Api, cluster: Connection) -> str:
    return f"/connections/{cluster.pk}/topics"


def make(api: Api, path: str, topic: str, partitions: int = 1) -> str:
    api.post(path, {"topic": topic, "partitions": partitions}, 201)
    return f"{path}/{topic}"


def produce(broker: str, topic: str, *made: dict[str, Any]) -> None:
    producer = Producer({"bootstrap.servers": broker})
    for record in made:
        producer.produce(topic, **record)
    assert producer.flush(10) == 0


def values(answer: Any) -> list[Any]:
    return [item["value"] for item in answer["items"]]


def test_a_topic_tells_its_partitions_settings_and_users(
    api: Api, cluster: Connection, broker: str, path: str, admin: User
) -> None:
    used = make(api, path, "used", 2)
    produce(broker, "used", *({"value": str(n), "partition": 0} for n in range(3)))
    pipeline = api.post("/pipelines", {"graph": GRAPH, "name": "Shop"}, 201)
    deployment, _ = actions.deploy(admin, pipeline["id"])
    Deployment.objects.update(
        metrics={"segments": {"out": {"lag": {"used-0": 2, "used-1": None, "other-0": 9}}}}
    )
    told = api.get(used)
    assert [(p["begin"], p["end"], p["in_sync"]) for p in told["partitions"]] == [
        (0, 3, [1]), (0, 0, [1]),
    ]  # fmt: skip
    assert {p["leader"] for p in told["partitions"]} == {broker}
    assert (told["records"], told["internal"]) == (3, False)
    assert told["settings"]["retention_ms"] == 7 * 24 * 3600 * 1000
    assert told["settings"]["cleanup_policy"] == "delete"
    (use,) = told["used_by"]
    assert (use["name"], use["step"], use["use"], use["lag"]) == ("Shop", "orders", "read", 2)
    assert use["deployment"] == str(deployment.pk)
    # What is only drawn is told too, and what one may not see is not.
    api.post("/pipelines", {"graph": GRAPH, "name": "Draft"}, 201)
    make(api, path, "given")
    uses = api.get(f"{path}/given")["used_by"]
    assert [(u["name"], u["use"], bool(u["deployment"])) for u in uses] == [
        ("Shop", "write", True), ("Draft", "write", False),
    ]  # fmt: skip
    assert Api(user_with("els", "editor", folder="else")).get(f"{path}/given")["used_by"] == []


def test_consumer_groups_and_what_they_have_still_to_read(api: Api, broker: str, path: str) -> None:
    grouped = make(api, path, "grouped", 2)
    produce(broker, "grouped", *({"value": "x", "partition": n % 2} for n in range(10)))
    for group, offset in (("billing", 1), ("search", 5)):
        consumer = Consumer({"bootstrap.servers": broker, "group.id": group})
        consumer.commit(offsets=[TopicPartition("grouped", 0, offset)], asynchronous=False)
        consumer.close()
    told = api.get(f"{grouped}/groups")
    assert [(g["group"], g["lag"]) for g in told["items"]] == [("billing", 4), ("search", 0)]
    assert told["items"][0]["partitions"] == [{"partition": 0, "offset": 1, "lag": 4}]
    make(api, path, "unread")
    assert api.get(f"{path}/unread/groups") == {"items": [], "count": 0, "left_out": 0}


def test_records_come_newest_first_and_page_by_page(api: Api, broker: str, path: str) -> None:
    paged = make(api, path, "paged", 3)
    # What is older than a week, the cluster may remove at any moment.
    start = int(time.time()) * 1000 - 60_000
    produce(
        broker, "paged",
        *({"value": str(n), "partition": n * 7 % 3, "timestamp": start + n} for n in range(500)),
    )  # fmt: skip
    found: list[str] = []
    query = "limit=200"
    while True:
        answer = api.get(f"{paged}/records?{query}")
        found += values(answer)
        if not answer["more"]:
            break
        query = f"limit=200&before={answer['before']}"
    assert found == [str(n) for n in reversed(range(500))]
    assert values(api.get(f"{paged}/records?limit=2&partition=0")) == ["498", "495"]

    def moment(milliseconds: int) -> str:
        at = datetime.fromtimestamp((start + milliseconds) / 1000, UTC)
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    assert values(api.get(f"{paged}/records?limit=2&until={moment(100)}")) == ["99", "98"]
    recent = api.get(f"{paged}/records?since={moment(498)}")
    assert (values(recent), recent["more"]) == (["499", "498"], False)


def test_a_live_tail_goes_on_where_it_was(api: Api, broker: str, path: str) -> None:
    tailed = make(api, path, "tailed", 2)
    produce(broker, "tailed", {"value": "old"})
    first = api.get(f"{tailed}/records?limit=5")
    assert values(first) == ["old"]
    second = api.get(f"{tailed}/records?limit=5&after={first['after']}")
    assert (values(second), second["passed_over"]) == ([], 0)
    produce(broker, "tailed", *({"value": str(n), "partition": 1} for n in range(8)))
    third = api.get(f"{tailed}/records?limit=5&after={second['after']}")
    assert (values(third), third["passed_over"]) == (["7", "6", "5", "4", "3"], 3)


def test_search_by_key_and_text(api: Api, broker: str, path: str) -> None:
    searched = make(api, path, "searched", 2)
    start = int(time.time()) * 1000 - 60_000
    produce(
        broker, "searched",
        *({"key": f"k{n % 5}", "value": f"row Nö {n}", "timestamp": start + n} for n in range(300)),
    )  # fmt: skip
    assert values(api.get(f"{searched}/records?key=k3&limit=2")) == ["row Nö 298", "row Nö 293"]
    found = api.get(f"{searched}/records?search=ROW+N%C3%96+29&limit=2")
    assert values(found) == ["row Nö 299", "row Nö 298"]
    nothing = api.get(f"{searched}/records?key=k")
    assert (nothing["items"], nothing["scanned"], nothing["more"]) == ([], 300, False)


def test_a_search_is_bounded(
    api: Api, broker: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MOST_SCANNED", 100)
    bounded = make(api, path, "bounded")
    produce(broker, "bounded", *({"value": str(n)} for n in range(250)))
    answer = api.get(f"{bounded}/records?search=never")
    assert (answer["items"], answer["scanned"], answer["more"]) == ([], 100, True)
    on = api.get(f"{bounded}/records?search=never&before={answer['before']}")
    assert (on["scanned"], on["before"]) == (100, "bounded:0:50")


def test_bytes_large_values_headers_and_deletions(api: Api, broker: str, path: str) -> None:
    odd = make(api, path, "odd")
    large = "ü" * 200_000
    produce(
        broker, "odd",
        {"key": b"\xff\x00", "value": large, "headers": [("trace", b"1"), ("raw", b"\xfe")]},
        {"key": "gone", "value": None},
    )  # fmt: skip
    gone, cut = api.get(f"{odd}/records")["items"]
    assert (gone["key"], gone["value"], gone["cut"]) == ("gone", None, False)
    assert (cut["key_encoding"], base64.b64decode(cut["key"])) == ("base64", b"\xff\x00")
    assert (len(cut["value"]), cut["cut"]) == (5_000, True)
    assert [(h["name"], h["encoding"]) for h in cut["headers"]] == [
        ("trace", "text"), ("raw", "base64"),
    ]  # fmt: skip
    (whole,) = api.get(f"{odd}/records?partition=0&offset=0")["items"]
    assert (whole["value"], whole["cut"]) == (large, False)
    assert api.get(f"{odd}/records?partition=0&offset=7")["items"] == []


def test_values_that_any_environment_masks_are_not_shown(api: Api, broker: str, path: str) -> None:
    masked = make(api, path, "masked")
    produce(broker, "masked", {"key": '{"id": 7}', "value": '{"id": 7, "n": 1}'})
    api.post("/environments", {"name": "prod", "masks": ["id"]}, 201)
    (shown,) = api.get(f"{masked}/records")["items"]
    assert (shown["key"], shown["value"]) == ('{"id": "•••"}', '{"id": "•••", "n": 1}')
    assert shown["masked"]
    (whole,) = api.get(f"{masked}/records?partition=0&offset=0")["items"]
    assert whole["value"] == shown["value"]
    assert api.get(f"{masked}/records?search=7")["items"] == []
    sampled = api.get(f"{masked}/sample")
    assert sampled["records"][0]["id"] == "•••"
    assert sampled["rows"][0]["_value"] == shown["value"]
    assert sampled["columns"][0] == {"name": "id", "type": "bigint"}, "its type is no secret"


def test_many_large_records_are_read_in_bounded_memory(api: Api, broker: str, path: str) -> None:
    heavy = make(api, path, "heavy")
    produce(broker, "heavy", *({"value": bytes([65 + n]) * 900_000} for n in range(25)))
    answer = api.get(f"{heavy}/records?limit=50")
    assert (len(answer["items"]), answer["more"]) == (10, True), "8 MB, and no more at once"
    rest = api.get(f"{heavy}/records?limit=50&before={answer['before']}")
    assert rest["items"][0]["value"][0] == "O"


def test_a_topic_with_gaps_is_read_to_its_begin(broker: str, api: Api, path: str) -> None:
    """Compaction leaves few records far apart; what asks for spans without any gets none."""
    make(api, path, "gaps", 1)
    produce(broker, "gaps", *({"value": str(n)} for n in range(30)))
    spans = records.spans_of(broker, ["gaps", "not-there"])
    assert spans == {Place("gaps", 0): Span(0, 30)}
    beyond = {Place("gaps", 0): Span(0, 35)}
    assert len(records.newest(broker, beyond, 100).records) == 30
    first = records.oldest(broker, spans, 7)
    assert [r.value for r in first.records] == [str(n).encode() for n in range(7)]
    assert first.left == {Place("gaps", 0): Span(7, 30)}
    at = records.records_at(broker, {Place("gaps", 0): [3, 29, 11]})
    assert sorted(r.offset for r in at) == [3, 11, 29]


def test_a_record_is_written_and_that_is_recorded(api: Api, broker: str, path: str) -> None:
    tried = make(api, path, "tried", 2)
    body = {"key": "k", "value": '{"a": 1}', "headers": {"test": "yes"}, "json": True}
    written = api.post(f"{tried}/records", body, 201)
    (found,) = api.get(f"{tried}/records")["items"]
    assert (found["partition"], found["offset"]) == (written["partition"], written["offset"])
    assert (found["key"], json.loads(found["value"])) == ("k", {"a": 1})
    assert [(h["name"], h["value"]) for h in found["headers"]] == [("test", "yes")]
    said = Activity.objects.filter(verb="change").latest("at").message
    assert "tried" in said
    assert "offset 0" in said
    assert '"a"' not in said, "what is in a record is nobody's business"
    # Where Java's clients put this key, of two partitions.
    assert written["partition"] == murmur2(b"k") % 2
    assert (
        api.post(f"{tried}/records", {"value": None, "key": "k", "partition": 1}, 201)["partition"]
        == 1
    )
    raw = {"value": base64.b64encode(b"\xff").decode(), "encoding": "base64"}
    api.post(f"{tried}/records", raw, 201)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"value": "{", "json": True}, "value"), ({"value": "x", "partition": 9}, "partition"),
        ({"value": "%", "encoding": "base64"}, "value"), ({"key": "k"}, "value"),
        ({"value": "x" * 1_100_000}, "value"), ({"value": "x", "offset": 1}, "offset"),
    ],
)  # fmt: skip
def test_a_record_that_cannot_be_written_is_refused(
    body: Any, field: str, api: Api, path: str, broker: str
) -> None:
    if "refusing" not in kafka.topic_partitions(broker):
        make(api, path, "refusing", 2)
    answer = api.post(f"{path}/refusing/records", body, 422)
    assert answer["problems"][0]["field"].endswith(field)
    assert api.get(f"{path}/refusing")["records"] == 0


def test_topics_that_are_not_there_or_not_ours_to_write(api: Api, broker: str, path: str) -> None:
    for call in ("", "/groups", "/records"):
        assert "no topic nothing" in api.get(f"{path}/nothing{call}", 404)["detail"]
        assert "Kafka's own" in api.get(f"{path}/__consumer_offsets{call}", 404)["detail"]
    api.post(f"{path}/nothing/records", {"value": "x"}, 404)
    assert "nothing" not in kafka.topic_partitions(broker), "asking makes no topic"
    make(api, path, "headrace.shop.counts.rows")
    refused = api.post(f"{path}/headrace.shop.counts.rows/records", {"value": "x"}, 409)
    assert "Headrace's own" in refused["detail"]
    assert api.get(f"{path}/headrace.shop.counts.rows")["internal"]
    for wrong in ("before=x", "after=a:b:c", "limit=0", "limit=201", "since=yesterday"):
        api.get(f"{path}/headrace.shop.counts.rows/records?{wrong}", 422)


def test_a_cluster_that_is_away(
    api: Api, local: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka, "TIMEOUT", 0.3)
    path = f"/connections/{local.pk}/topics/x"
    begun = time.monotonic()
    for call in ("", "/groups", "/records"):
        assert "does not answer" in api.get(f"{path}{call}", 502)["detail"]
    api.post(f"{path}/records", {"value": "x"}, 502)
    assert time.monotonic() - begun < 10


def murmur2(data: bytes) -> int:
    """The hash by which Kafka's Java clients choose a partition."""
    mask, m = 0xFFFFFFFF, 0x5BD1E995
    h = 0x9747B28C ^ len(data)
    whole = len(data) // 4 * 4
    for at in range(0, whole, 4):
        k = int.from_bytes(data[at : at + 4], "little") * m & mask
        k = (k ^ k >> 24) * m & mask
        h = (h * m & mask) ^ k
    if rest := data[whole:]:
        h = (h ^ int.from_bytes(rest, "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return (h ^ h >> 15) & 0x7FFFFFFF
