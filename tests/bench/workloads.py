"""What every contestant is asked to do, and which outputs must come of which records.

Each workload reads JSON records `{"n", "k", "kind", "sent"}` under the key `k`. Of a hundred
keys each tenth is noise: a filter drops it, and the table of the join has it deleted.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

WORKLOADS = ("filter", "count", "hopping", "join")
KEYS = 100
WINDOW_SECONDS, ADVANCE_SECONDS = 10, 5
COLUMNS = {"n": "bigint", "k": "string", "kind": "string", "sent": "bigint"}

# An output: what it is about (a record; a key; a key in a window), and the count it gives.
Update = tuple[Any, int]


@dataclass(frozen=True)
class Topics:
    """Where a job reads its records and its table, and where it writes."""

    records: str
    table: str
    outputs: str


@dataclass(frozen=True)
class Sent:
    """A record that was produced: in which phase, when by the steady clock and by Kafka's.

    `late_ns` is how far the producer was behind its own schedule.
    """

    n: int
    phase: int
    sent_ns: int
    at_ms: int
    late_ns: int


def key_of(n: int) -> str:
    """The key of the n-th record; neighbours have different ones."""
    return f"key-{n * 7919 % KEYS}"


def is_noise(key: str) -> bool:
    return key.endswith("0")


def record(n: int, sent_ns: int) -> tuple[str, bytes]:
    """The key and the value of the n-th record."""
    key = key_of(n)
    kind = "noise" if is_noise(key) else "view"
    return key, json.dumps({"n": n, "k": key, "kind": kind, "sent": sent_ns}).encode()


def table_rows() -> Iterator[tuple[str, bytes | None]]:
    """The records of the join's table, oldest first: a row for every key, then deletions."""
    keys = [f"key-{i}" for i in range(KEYS)]
    for key in keys:
        yield key, json.dumps({"k": key, "name": f"name of {key}"}).encode()
    yield from ((key, None) for key in keys if is_noise(key))


def expected(workload: str, sent: list[Sent]) -> dict[Update, Sent]:
    """Every output that must come, and the record that it answers.

    A count says which record of its key it answers, because a key's records stay in order.
    """
    found: dict[Update, Sent] = {}
    counts: Counter[Any] = Counter()
    for one in sent:
        for about in _about(workload, one):
            counts[about] += 1
            found[about, counts[about]] = one
    return found


def _about(workload: str, sent: Sent) -> Iterator[Any]:
    key = key_of(sent.n)
    if workload == "count":
        yield key
    elif workload == "hopping":
        newest = sent.at_ms // 1000 // ADVANCE_SECONDS * ADVANCE_SECONDS
        for start in range(newest, newest - WINDOW_SECONDS, -ADVANCE_SECONDS):
            yield key, start
    elif not is_noise(key):
        yield (sent.n, f"name of {key}") if workload == "join" else sent.n


def read_output(workload: str, value: bytes) -> Update:
    """What an output says, in the words of `expected`."""
    said = json.loads(value)
    if workload == "count":
        return said["k"], said["count"]
    if workload == "hopping":
        start = datetime.fromisoformat(said["window"]["start"])
        return (said["k"], int(start.timestamp())), said["count"]
    return ((said["n"], said["name"]) if workload == "join" else said["n"]), 1


def graph(workload: str, topics: Topics, on_bad_record: str = "skip") -> dict[str, Any]:
    """The workload as people draw it."""
    source = step(
        "records",
        "kafka_source",
        connection="local",
        topics=[topics.records],
        format="json",
        columns=columns(COLUMNS),
        start="earliest",
        on_bad_record=on_bad_record,
    )
    sink = step("out", "kafka_sink", connection="local", topic=topics.outputs)
    between = {
        "filter": [step("views", "filter", condition="kind <> 'noise'")],
        "count": [_aggregate({"kind": "none"})],
        "hopping": [
            _aggregate(
                {
                    "kind": "hopping",
                    "size": f"{WINDOW_SECONDS} seconds",
                    "advance": f"{ADVANCE_SECONDS} seconds",
                }
            )
        ],
        "join": [
            step(
                "names",
                "kafka_table",
                connection="local",
                topics=[topics.table],
                format="json",
                columns=columns({"k": "string", "name": "string"}),
                key=["k"],
                on_bad_record=on_bad_record,
            ),
            step("named", "join", kind="inner", on=[{"left": "k", "right": "k"}]),
        ],
    }[workload]
    middle = between[-1]["id"]
    edges = [{"from": "records", "to": middle}, {"from": middle, "to": "out"}]
    if workload == "join":
        edges[0]["port"] = "left"
        edges.append({"from": "names", "to": middle, "port": "right"})
    return {"version": 1, "steps": [source, *between, sink], "edges": edges}


def step(id_: str, type_: str, **config: Any) -> dict[str, Any]:
    """A step as a graph has it."""
    return {"id": id_, "type": type_, "config": config}


def columns(types: dict[str, str]) -> list[dict[str, str]]:
    """Columns as a source declares them, of their types by name."""
    return [{"name": name, "type": type_} for name, type_ in types.items()]


def _aggregate(window: dict[str, str]) -> dict[str, Any]:
    count = {"name": "count", "function": "count"}
    return step("counts", "aggregate", group_by=["k"], aggregations=[count], window=window)
