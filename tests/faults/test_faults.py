"""A counting pipeline under numbered input, while what it stands on is killed, stopped and locked.

`HEADRACE_FAULTS` says how many faults (5 where it is not set), `HEADRACE_FAULT_SECONDS` how long
what is stopped stays so (8), `HEADRACE_FAULT_SEED` which ones in which order. `make faults` runs
20 of a minute. Each kind comes before any comes twice.
"""

import json
import os
import random
import signal
import sqlite3
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import requests
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.headrace import Headrace

FAULTS = int(os.environ.get("HEADRACE_FAULTS", "5"))
STOPPED_SECONDS = float(os.environ.get("HEADRACE_FAULT_SECONDS", "8"))
SEED = int(os.environ.get("HEADRACE_FAULT_SEED", "0")) or random.randrange(1, 10**6)
# From the end of a fault to the first new row that has come through.
MOST_SECONDS = 60
# After these another run goes on.
ENDS_THE_RUN = ("Java killed", "host killed")
KEYS = 10
ROWS_PER_SECOND = 50


class Input:
    """Numbered records, each of one of ten keys, written for as long as it is open."""

    def __init__(self, servers: str, topic: str) -> None:
        self.topic = topic
        self.written = 0
        self.of_key: Counter[str] = Counter()
        self._ended = threading.Event()
        # So that none is written twice: what a broker may have taken is not sent again blindly.
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "log_level": 0,
                "enable.idempotence": True,
                "linger.ms": 0,
            }
        )
        self._thread = threading.Thread(target=self._write)

    def __enter__(self) -> "Input":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        assert self._producer.flush(120) == 0

    def _write(self) -> None:
        while not self._ended.wait(1 / ROWS_PER_SECOND):
            key = f"k{self.written % KEYS}"
            value = json.dumps({"n": self.written, "k": key})
            self._producer.produce(self.topic, value=value, key=key)
            self._producer.poll(0)
            self.of_key[key] += 1
            self.written += 1


class Output:
    """All that has come out so far."""

    def __init__(self, servers: str, seen: str, counts: str) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "log_level": 0,
                "group.id": "none",
                "enable.auto.commit": False,
            }
        )
        self.seen, self.counts = seen, counts
        # How often each number came out, and by which names of its record.
        self.times: Counter[int] = Counter()
        self.names: dict[int, set[bytes]] = defaultdict(set)
        self.newest: dict[str, int] = {}
        self.newest_number = -1
        self._assigned = False

    def read(self) -> None:
        """Take in what is new."""
        if not self._assigned:
            known = self._consumer.list_topics(timeout=10).topics
            if not {self.seen, self.counts} <= known.keys():
                return
            places = [
                TopicPartition(topic, n, 0)
                for topic in (self.seen, self.counts)
                for n in known[topic].partitions
            ]
            self._consumer.assign(places)
            self._assigned = True
        for record in self._consumer.consume(10_000, timeout=0.5):
            if record.error():
                continue
            row = json.loads(record.value())
            if record.topic() == self.seen:
                self.times[row["n"]] += 1
                self.names[row["n"]].add(dict(record.headers() or ())["headrace.id"])
                self.newest_number = max(self.newest_number, row["n"])
            else:
                self.newest[row["k"]] = row["count"]


class Watched:
    """How many processes of a deployment's job have lived at once."""

    def __init__(self, headrace: Headrace, deployment: str) -> None:
        self.most = 0
        self._ended = threading.Event()
        self._look = lambda: len(headrace.jobs_of(deployment))
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Watched":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.3):
            self.most = max(self.most, self._look())


def faults(headrace: Headrace, deployment: str) -> dict[str, Callable[[], None]]:
    """Each kind of fault, as what makes it happen and returns when it is over."""

    def kill(words: str) -> Callable[[], None]:
        def act() -> None:
            found = headrace.pids(words)
            assert found, f"nothing to kill: {words}"
            for pid in found:
                os.kill(pid, signal.SIGKILL)

        return act

    def stop(words: str) -> Callable[[], None]:
        def act() -> None:
            found = headrace.pids(words)
            assert found, f"nothing to stop: {words}"
            for pid in found:
                os.kill(pid, signal.SIGSTOP)
            time.sleep(STOPPED_SECONDS)
            for pid in found:
                os.kill(pid, signal.SIGCONT)

        return act

    def kill_host() -> None:
        for pid in headrace.jobs_of(deployment):
            os.kill(pid, signal.SIGKILL)

    def kill_java() -> None:
        for pid in headrace.jobs_of(deployment):
            for child in headrace.children(pid):
                os.kill(child, signal.SIGKILL)

    def lock_database() -> None:
        with sqlite3.connect(headrace.data / "headrace.sqlite3", isolation_level=None) as database:
            database.execute("PRAGMA busy_timeout = 20000")
            database.execute("BEGIN EXCLUSIVE")
            time.sleep(STOPPED_SECONDS)
            database.execute("ROLLBACK")

    return {
        "Java killed": kill_java,
        "host killed": kill_host,
        "control worker killed": kill("control@"),
        "web killed": kill("builder.asgi"),
        "beat killed": kill("builder.celery beat"),
        "Redis stopped": stop("redis-server"),
        "Kafka stopped": stop("kafka.Kafka"),
        "database locked": lock_database,
        "Redis killed": kill("redis-server"),
        "supervisor killed": kill("manage.py supervise"),
    }


def deployed(headrace: Headrace) -> tuple[str, str, str, str]:
    """A deployment in real time that hands on what it reads and counts it by key; its topics."""
    prefix = uuid.uuid4().hex[:6]
    numbers, seen, counts = (f"{prefix}-{name}" for name in ("numbers", "seen", "counts"))
    columns = [{"name": "n", "type": "bigint"}, {"name": "k", "type": "string"}]
    count = {"group_by": ["k"], "aggregations": [{"name": "count", "function": "count"}]}
    local = {"connection": "local"}
    graph = {
        "version": 1,
        "steps": [
            {"id": "numbers", "type": "kafka_source",
             "config": {**local, "topics": [numbers], "format": "json", "columns": columns}},
            {"id": "counted", "type": "aggregate", "config": count},
            {"id": "seen", "type": "kafka_sink", "config": {**local, "topic": seen}},
            {"id": "counts", "type": "kafka_sink", "config": {**local, "topic": counts}},
        ],
        "edges": [
            {"from": "numbers", "to": "seen"},
            {"from": "numbers", "to": "counted"},
            {"from": "counted", "to": "counts"},
        ],
    }  # fmt: skip
    headrace.post(f"/api/connections/{headrace.connection}/topics", {"topic": numbers})
    pipeline = headrace.post("/api/pipelines", {"name": f"{prefix} faults", "graph": graph})
    made = headrace.post("/api/deployments", {"pipeline": pipeline["id"], "mode": "real_time"})
    headrace.until_state(made["id"], "running", 120)
    return made["id"], numbers, seen, counts


def until_well(
    headrace: Headrace, deployment: str, input: Input, output: Output, runs: int
) -> float:
    """Seconds until it runs for the n-th time, says so, and a row written from now on came out."""
    begin, first = time.monotonic(), input.written

    def is_well() -> str | None:
        output.read()
        if output.newest_number < first:
            return f"row {first} has not come through, but {output.newest_number}"
        try:
            found: Any = headrace.deployment(deployment)
        except (requests.RequestException, AssertionError) as error:
            return f"the API does not answer: {error}"
        is_there = found["state"] == "running" and len(found["runs"]) >= runs
        return None if is_there else f"{found['state']}: {found['message']}"

    headrace.until(is_well, MOST_SECONDS)
    return time.monotonic() - begin


def in_turn(kinds: list[str], count: int, seed: int) -> list[str]:
    """So many kinds of fault at random, each once before any comes twice."""
    chosen: list[str] = []
    chance = random.Random(seed)
    while len(chosen) < count:
        chosen += chance.sample(kinds, len(kinds))
    return chosen[:count]


def test_nothing_is_lost_and_counts_stay_exact(headrace: Headrace) -> None:
    deployment, numbers, seen, counts = deployed(headrace)
    kinds = faults(headrace, deployment)
    output = Output(headrace.servers, seen, counts)
    epoch = 1
    print(f"\n{FAULTS} faults, seed {SEED}, {ROWS_PER_SECOND} rows/s")
    with Watched(headrace, deployment) as watched, Input(headrace.servers, numbers) as input:
        until_well(headrace, deployment, input, output, 1)
        for kind in in_turn(list(kinds), FAULTS, SEED):
            kinds[kind]()
            epoch += kind in ENDS_THE_RUN
            seconds = until_well(headrace, deployment, input, output, epoch)
            print(f"  {kind:<22} well again after {seconds:5.1f} s", flush=True)

    def all_counted() -> str | None:
        output.read()
        return None if output.newest == input.of_key else f"{output.newest} of {input.of_key}"

    headrace.until(all_counted, 60)
    missing = set(range(input.written)) - output.times.keys()
    repeats = sum(output.times.values()) - len(output.times)
    unmarked = [n for n, names in output.names.items() if len(names) != 1]
    runs = headrace.deployment(deployment)["runs"]
    print(
        f"{input.written} rows: {len(missing)} missing, {repeats} repeats, of which "
        f"{len(unmarked)} can't be told, counts exact; {len(runs)} runs, at most "
        f"{watched.most} job at once"
    )
    assert not missing
    assert not unmarked
    assert watched.most == 1
    headrace.post(f"/api/deployments/{deployment}/stop")
    headrace.until_state(deployment, "stopped", 60)
