"""Dead letters, looked at, mended and replayed, on a real cluster."""

import base64
import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from django.contrib.auth.models import User
from django.db import connection as database

from builder.access.models import Activity
from builder.connections import kafka
from builder.connections.models import Connection
from builder.deployments import actions
from builder.deployments.models import Deployment
from builder.letters import actions as letters
from builder.letters.models import Replay
from builder.refused import Refused
from tests.builder.conftest import Api

WHY = "The value is no JSON object of the declared columns."
Put = Callable[..., None]


def graph(source: str) -> Any:
    config = {"connection": "local", "topics": [source], "columns": [{"name": "n", "type": "int"}]}
    return {
        "version": 1,
        "steps": [
            {"id": "reviews", "type": "kafka_source", "config": config},
            {"id": "quiet", "type": "kafka_source", "config": {**config, "on_bad_record": "skip"}},
            {"id": "both", "type": "merge", "config": {}},
            {"id": "out", "type": "kafka_sink", "config": {"connection": "local", "topic": "o"}},
        ],
        "edges": [
            {"from": "reviews", "to": "both"}, {"from": "quiet", "to": "both"},
            {"from": "both", "to": "out"},
        ],
    }  # fmt: skip


@pytest.fixture
def cluster(broker: str) -> Connection:
    return Connection.objects.create(name="local", bootstrap_servers=broker)


@pytest.fixture
def source(request: pytest.FixtureRequest) -> str:
    """A topic of the test's own."""
    return f"reviews-{abs(hash(request.node.name)) % 10**8}-{time.time_ns() % 10**6}"


@pytest.fixture
def deployment(api: Api, cluster: Connection, admin: User, broker: str, source: str) -> Deployment:
    kafka.create_topic(broker, source, 3)
    pipeline = api.post("/pipelines", {"graph": graph(source), "name": source}, 201)
    return actions.deploy(admin, pipeline["id"])[0]


@pytest.fixture
def path(deployment: Deployment) -> str:
    return f"/deployments/{deployment.pk}/dead-letters"


@pytest.fixture
def box(deployment: Deployment, broker: str) -> str:
    (topic,) = [t["topic"] for t in deployment.topics if t["use"] == "dead_letters"]
    kafka.create_topic(broker, topic, 2)
    return str(topic)


@pytest.fixture
def put(box: str, broker: str, source: str) -> Put:
    """Write letters as a job does: `(origin partition, offset, key, value, more headers)`."""

    def write(*made: tuple[Any, ...], error: str = WHY, topic: str = source) -> None:
        producer = Producer({"bootstrap.servers": broker})
        for partition, offset, key, value, *more in made:
            headers = [
                *more, ("headrace.step", b"reviews"), ("headrace.topic", topic.encode()),
                ("headrace.partition", str(partition).encode()),
                ("headrace.offset", str(offset).encode()), ("headrace.error", error.encode()),
            ]  # fmt: skip
            producer.produce(box, value, key, headers=headers, partition=offset % 2)
        assert producer.flush(10) == 0

    return write


def stands(broker: str, topic: str) -> list[Any]:
    """All records of a topic as `(partition, offset, key, value, headers)`."""
    consumer = Consumer({"bootstrap.servers": broker, "group.id": "unused"})
    found: list[Any] = []
    for partition in consumer.list_topics(topic).topics[topic].partitions:
        _, end = consumer.get_watermark_offsets(TopicPartition(topic, partition))
        consumer.assign([TopicPartition(topic, partition, 0)])
        for _ in range(end):
            record = consumer.poll(10)
            assert record is not None
            assert record.error() is None
            headers = dict(record.headers() or [])
            found.append((partition, record.offset(), record.key(), record.value(), headers))
    consumer.close()
    return found


def test_letters_tell_reason_origin_and_the_record_itself(
    api: Api, path: str, put: Put, box: str, source: str
) -> None:
    put((2, 17, "ann", "{oops", ("trace", b"7")), (0, 4, b"\xff", b"\xfe\x00"))
    answer = api.get(path)
    assert (answer["count"], answer["more"]) == (2, False)
    by_offset = {item["origin"]["offset"]: item for item in answer["items"]}
    first = by_offset[17]
    assert first["origin"] == {"topic": source, "partition": 2, "offset": 17}
    assert (first["step"], first["error"]) == ("reviews", WHY)
    assert (first["key"], first["value"], first["replays"]) == ("ann", "{oops", [])
    assert first["id"] == f"{box}-1-0"
    assert first["headers"] == [{"name": "trace", "value": "7", "encoding": "text"}]
    assert by_offset[4]["value_encoding"] == "base64"
    assert base64.b64decode(by_offset[4]["value"]) == b"\xfe\x00"
    assert api.get(f"{path}?letter={first['id']}")["items"] == [first]
    assert api.get(f"{path}?letter={box}-1-99")["items"] == []
    assert api.get(f"{path}?letter=nonsense")["items"] == []


def test_letters_are_paged_and_filtered(api: Api, path: str, put: Put) -> None:
    put(*((0, n, None, f"bad {n}") for n in range(120)))
    put(*((1, n, None, f"worse {n}") for n in range(3)), error="Another reason.")
    found: list[str] = []
    query = "limit=50"
    while True:
        answer = api.get(f"{path}?{query}")
        found += [item["value"] for item in answer["items"]]
        if not answer["more"]:
            break
        query = f"limit=50&before={answer['before']}"
    assert sorted(found) == sorted(
        [*(f"bad {n}" for n in range(120)), *(f"worse {n}" for n in range(3))]
    )
    assert answer["count"] == 123
    others = api.get(f"{path}?error=Another+reason.&step=reviews")
    assert sorted(i["value"] for i in others["items"]) == ["worse 0", "worse 1", "worse 2"]
    assert [i["value"] for i in api.get(f"{path}?search=BAD+119")["items"]] == ["bad 119"]
    (problem,) = api.get(f"{path}?step=quiet", 422)["problems"]
    assert "quiet puts no bad records aside" in problem["message"]
    api.get(f"{path}?before=nonsense", 422)


def test_without_a_topic_there_are_none(api: Api, path: str) -> None:
    assert api.get(path) == {
        "items": [], "count": 0, "scanned": 0, "more": False, "before": None,
    }  # fmt: skip


def test_a_letter_is_replayed_where_it_stood(
    api: Api, path: str, put: Put, box: str, broker: str, source: str, deployment: Deployment
) -> None:
    put((2, 17, "ann", '{"n": "x"}', ("trace", b"7")))
    (letter,) = api.get(path)["items"]
    answer = api.post(f"{path}/replay", {"letters": [{"id": letter["id"]}]})
    assert answer["replayed"] == 1
    assert answer["items"] == [
        {"id": letter["id"], "topic": source, "partition": 2, "offset": 0, "message": ""}
    ]
    ((partition, _, key, value, headers),) = stands(broker, source)
    assert (partition, key, value) == (2, b"ann", b'{"n": "x"}')
    assert headers["trace"] == b"7"
    assert headers["headrace.replayed"] == f"{source}-2-17".encode()
    assert json.loads(headers["headrace.id"])["_offset"] == 17
    assert "headrace.error" not in headers
    (replay,) = api.get(path)["items"][0]["replays"]
    assert (replay["user"], replay["edited"], replay["offset"]) == ("ada", False, 0)
    said = Activity.objects.get(verb="replay")
    assert said.subject_id == deployment.pk
    assert said.message.startswith(f"ada replayed a dead letter of reviews in {deployment}")

    # Once more only where that is asked for; and then readers can tell it is the same.
    again = {"letters": [{"id": letter["id"]}]}
    refused = api.post(f"{path}/replay", again, 409)["detail"]
    assert "already replayed" in refused
    assert "by ada" in refused
    api.post(f"{path}/replay", {**again, "again": True})
    ids = [headers["headrace.id"] for *_, headers in stands(broker, source)]
    assert len(ids) == 2
    assert len(set(ids)) == 1
    assert [r.attempt for r in Replay.objects.all()] == [1, 2]


def test_an_edited_letter_is_another_record(
    api: Api, path: str, put: Put, broker: str, source: str
) -> None:
    put((1, 5, "ann", "{", ("headrace.id", b"as it was")), (1, 6, None, b"\xff"))
    by_offset = {i["origin"]["offset"]: i["id"] for i in api.get(path)["items"]}
    raw = base64.b64encode(b'{"n": 3}').decode()
    answer = api.post(f"{path}/replay", {"letters": [
        {"id": by_offset[6], "value": raw, "encoding": "base64", "key": "bob"},
        {"id": by_offset[5], "value": '{"n": 2}'},
    ]})  # fmt: skip
    assert answer["replayed"] == 2
    found = {key: (partition, value, headers) for partition, _, key, value, headers in
             stands(broker, source)}  # fmt: skip
    assert found[b"ann"][:2] == (1, b'{"n": 2}'), "its key stays where it was"
    assert found[b"ann"][2]["headrace.id"] != b"as it was", "else readers would drop it"
    assert found[b"bob"][1] == b'{"n": 3}'
    assert [r.edited for r in Replay.objects.all()] == [True, True]
    assert "2 of them edited" in Activity.objects.get(verb="replay").message
    put((1, 7, "eve", "{", ("headrace.id", b"as it was")))
    (new,) = [i for i in api.get(path)["items"] if i["origin"]["offset"] == 7]
    api.post(f"{path}/replay", {"letters": [{"id": new["id"]}]})
    assert stands(broker, source)[-1][4]["headrace.id"] == b"as it was"


def test_all_of_a_step_in_their_order_and_each_once(
    api: Api, path: str, put: Put, broker: str, source: str
) -> None:
    put(*((0, n, "k", f"bad {n}") for n in range(40)))
    # A crash may leave a letter twice.
    put((0, 39, "k", "bad 39"), error=WHY)
    put((1, 0, "k", "other"), error="Another reason.")
    first = api.get(f"{path}?search=bad+7")["items"][0]
    api.post(f"{path}/replay", {"letters": [{"id": first["id"]}]})
    answer = api.post(f"{path}/replay", {"all": True, "step": "reviews", "error": WHY})
    assert (answer["replayed"], answer["more"]) == (39, False)
    values = [value for partition, _, _, value, _ in stands(broker, source) if partition == 0]
    others = [n for n in range(40) if n != 7]
    assert values == [b"bad 7", *(f"bad {n}".encode() for n in others)]
    assert api.post(f"{path}/replay", {"all": True, "step": "reviews"})["replayed"] == 1
    assert api.post(f"{path}/replay", {"all": True, "step": "reviews"})["items"] == []
    assert Activity.objects.filter(verb="replay").count() == 3


def test_all_goes_on_in_portions(
    api: Api, path: str, put: Put, broker: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(letters, "MOST_LETTERS", 10)
    put(*((0, n, "k", f"bad {n}") for n in range(24)))
    body: dict[str, Any] = {"all": True, "step": "reviews"}
    counts = []
    while True:
        answer = api.post(f"{path}/replay", body)
        counts.append(answer["replayed"])
        if not answer["more"]:
            break
        body["after"] = answer["after"]
    assert (sum(counts), max(counts)) == (24, 10)
    assert len(stands(broker, source)) == 24


def test_a_letter_and_its_repeat_are_one(
    api: Api, path: str, put: Put, broker: str, source: str
) -> None:
    put((0, 2, "k", "bad"), (0, 2, "k", "bad"))
    ids = [item["id"] for item in api.get(path)["items"]]
    answer = api.post(f"{path}/replay", {"letters": [{"id": id_} for id_ in ids]})
    assert (answer["replayed"], len(answer["items"])) == (1, 2)
    assert "same record" in answer["items"][1]["message"]
    assert all(item["replays"] for item in api.get(path)["items"])


def test_what_cannot_be_replayed_is_refused_and_nothing_is_written(
    api: Api, path: str, put: Put, box: str, broker: str, source: str
) -> None:
    put((0, 0, "k", "bad"))
    (good,) = api.get(path)["items"]

    def refused(status: int, *named: dict[str, Any], **more: Any) -> str:
        body = {"letters": [*named], **more} if named else more
        return json.dumps(api.post(f"{path}/replay", body, status))

    assert "letters.1.id" in refused(422, {"id": good["id"]}, {"id": f"{box}-0-99"})
    refused(422, {"id": "nonsense"})
    refused(422, {"id": f"{source}-0-0"})
    assert "named twice" in refused(422, {"id": good["id"]}, {"id": good["id"]})
    assert "larger than" in refused(422, {"id": good["id"], "value": "x" * 1_100_000})
    assert "base64" in refused(422, {"id": good["id"], "value": "%", "encoding": "base64"})
    assert "puts no bad records aside" in refused(422, all=True, step="quiet")
    for wrong in ({}, {"all": True}, {"letters": []}, {"letters": [{"id": "a"}], "all": True}):
        refused(422, **wrong)
    refused(422, *({"id": f"{box}-0-{n}"} for n in range(1001)))
    # A letter that names a topic which its step does not read is none of ours.
    put((0, 1, "k", "forged"), topic="payments")
    forged = next(i for i in api.get(path)["items"] if i["value"] == "forged")
    assert "does not read payments" in refused(422, {"id": forged["id"]})
    assert stands(broker, source) == []
    assert not Replay.objects.exists()
    assert not Activity.objects.filter(verb="replay").exists()


def test_a_topic_that_is_gone(api: Api, path: str, put: Put, broker: str, source: str) -> None:
    put((2, 0, "k", "bad"))
    (letter,) = api.get(path)["items"]
    kafka.delete_topics(broker, source)
    until(lambda: source not in kafka.topic_partitions(broker))
    answer = api.post(f"{path}/replay", {"letters": [{"id": letter["id"]}]}, 409)
    assert f"The topic {source} is not there any more" in answer["detail"]
    assert source not in kafka.topic_partitions(broker), "asking makes no topic"
    # Made again, with fewer partitions, it takes the letter.
    kafka.create_topic(broker, source, 1)
    assert api.post(f"{path}/replay", {"letters": [{"id": letter["id"]}]})["replayed"] == 1


def test_masked_values_are_not_shown_and_stay_when_the_rest_is_mended(
    api: Api, path: str, put: Put, broker: str, source: str
) -> None:
    api.post("/environments", {"name": "default", "masks": ["email"]}, 201)
    put((0, 0, "k", '{"email": "a@b", "n": "x"}'), (0, 2, "k", '{"email": "c@d", oops'))
    items = {i["origin"]["offset"]: i for i in api.get(path)["items"]}
    assert items[0]["value"] == '{"email": "•••", "n": "x"}'
    assert items[2]["value"] == '{"email": "•••", oops'
    assert items[0]["masked"]
    assert api.get(f"{path}?letter={items[0]['id']}")["items"][0]["value"] == items[0]["value"]
    assert api.get(f"{path}?search=a@b")["items"] == [], "nor can they be guessed by searching"
    mended = {"id": items[0]["id"], "value": '{"email": "•••", "n": 1}'}
    broken = {"id": items[2]["id"], "value": '{"email": "•••"}'}
    answer = api.post(f"{path}/replay", {"letters": [mended, broken]}, 422)
    assert answer["problems"][0]["field"] == "letters.1.value"
    api.post(f"{path}/replay", {"letters": [mended]})
    ((*_, value, _),) = stands(broker, source)
    assert json.loads(value) == {"email": "a@b", "n": 1}


def test_kafka_away_is_said_in_words(
    api: Api, path: str, box: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka, "TIMEOUT", 0.3)
    Connection.objects.update(bootstrap_servers="127.0.0.1:1")
    named = {"letters": [{"id": f"{box}-0-0"}]}
    for answer in (
        api.get(path, 503),
        api.get(f"{path}?letter={box}-0-0", 503),
        api.post(f"{path}/replay", named, 503),
        api.post(f"{path}/replay", {"all": True, "step": "reviews"}, 503),
    ):
        assert "The connection local does not answer" in answer["detail"]


@pytest.mark.django_db(transaction=True)
def test_two_who_replay_at_once_write_it_once(
    api: Api, path: str, put: Put, broker: str, source: str, deployment: Deployment, admin: User
) -> None:
    put((0, 0, "k", "bad"))
    (letter,) = api.get(path)["items"]
    came: list[str] = []
    together = threading.Barrier(4)

    def press() -> None:
        together.wait()
        try:
            letters.replay_letters(admin, deployment.pk, [letters.Wanted(letter["id"])])
            came.append("written")
        except Refused as error:
            came.append(str(error.status))
        finally:
            database.close()

    threads = [threading.Thread(target=press) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(came) == ["409", "409", "409", "written"]
    assert len(stands(broker, source)) == 1


def until(check: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.1)
