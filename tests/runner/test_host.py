"""Jobs as they are deployed: real processes, real Spark, a real Kafka."""

import json
import os
import re
import signal
import time
import uuid
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource

from runner import launch
from tests.runner import scenario
from tests.runner.scenario import make_topics, read_all, read_headers, wait_until, write


def source(topic, **config):
    return {"connection": "local", "topics": [topic], "format": "text", **config}


def word_count(lines, counts):
    steps = {
        "lines": ("kafka_source", source(lines)),
        "words": ("explode", {"expression": "split(value, ' ')", "as": "word"}),
        "short": ("filter", {"condition": "length(word) < 20"}),
        "counts": (
            "aggregate",
            {"group_by": ["word"], "aggregations": [{"name": "count", "function": "count"}]},
        ),
        "out": ("kafka_sink", {"connection": "local", "topic": counts}),
    }
    return chain(steps)


def chain(*chains):
    """A graph of chains of steps, each a dict of (type, config) by id."""
    steps = [
        {"id": id_, "type": type_, "config": config}
        for one in chains
        for id_, (type_, config) in one.items()
    ]
    edges = [
        {"from": a, "to": b}
        for one in chains
        for a, b in zip(list(one)[:-1], list(one)[1:], strict=True)
    ]
    return {"version": 1, "steps": steps, "edges": edges}


@pytest.fixture
def topic(broker):
    """Make a topic of two partitions under a name of its own."""

    def make(name):
        unique = f"{name}-{uuid.uuid4().hex[:8]}"
        make_topics(broker, [unique])
        return unique

    return make


def newest_counts(broker, topic):
    return {row["word"]: row["count"] for row in read_all(broker, [topic])}


def numbers(step, count):
    """The word-count lines of a step, each with a word that tells it from all others."""
    return [f"all {step} {step}-{i}" for i in range(count)]


# That micro-batches are exact after a kill is shown by the scenarios, too.
@pytest.mark.parametrize("mode", ["real_time", pytest.param("micro_batch", marks=scenario.long)])
def test_a_killed_job_goes_on_with_exact_counts(broker, topic, make_job, mode):
    lines, counts = topic("lines"), f"counts-{uuid.uuid4().hex[:8]}"
    job = make_job(word_count(lines, counts), mode=mode)
    write(broker, lines, numbers("first", 200))
    job.start().wait_for("running")
    # What was there before is taken in in one batch, in either mode.
    job.wait_for_out("counts", 202)
    words = lambda: (job.counts["words"]["in"], job.counts["words"]["out"])  # noqa: E731
    wait_until(lambda: None if words() == (200, 600) else f"words: {words()}", 10)
    # One batch at least must be behind it, so that it goes on and does not begin.
    batches = lambda: (job.of_type("metrics")[-1]["segments"]["out"] or {}).get("state_rows")  # noqa: E731
    wait_until(lambda: None if batches() else "no batch has ended", 60)
    write(broker, lines, numbers("second", 200))
    job.wait_for_out("lines", 300)
    os.kill(job.process.pid, signal.SIGKILL)
    write(broker, lines, numbers("third", 200))

    job.start().wait_for("running")
    expected = Counter(
        w for s in ("first", "second", "third") for t in numbers(s, 200) for w in t.split()
    )

    def differing():
        found = newest_counts(broker, counts)
        wrong = {w: (n, found.get(w)) for w, n in expected.items() if found.get(w) != n}
        return f"expected and found: {list(wrong.items())[:5]}" if wrong else None

    wait_until(differing, 90)
    asked = time.monotonic()
    assert job.stop() == {
        "code": 0, "state": "stopped", "message": "Stopped.", "step": None, "permanent": False,
    }  # fmt: skip
    assert time.monotonic() - asked < 12
    assert [e["state"] for e in job.of_type("state")][-2:] == ["stopping", "stopped"]
    assert newest_counts(broker, counts) == expected

    # A checkpoint that was damaged is never passed over.
    offsets = sorted(
        Path(job.about["checkpoints"]).glob("*/offsets/[0-9]*"), key=lambda p: int(p.name)
    )
    offsets[-1].write_text("")
    ended = job.start().wait_for_end(150)
    assert (ended["code"], ended["state"], ended["permanent"]) == (65, "failed", True)
    assert "checkpoint" in ended["message"]
    assert "\n" not in ended["message"]
    assert "at org.apache" not in ended["message"]
    assert "runId" not in ended["message"]


def test_what_a_job_says_while_it_runs(kafka, broker, topic, make_job):
    views, loud = topic("views"), f"loud-{uuid.uuid4().hex[:8]}"
    columns = [{"name": "user", "type": "string"}, {"name": "n", "type": "int"}]
    config = {**source(views), "format": "json", "columns": columns}
    graph = chain(
        {
            "views": ("kafka_source", config),
            "known": ("filter", {"condition": "n >= 0"}),
            "seen": ("console_sink", {"rows": 10}),
        },
        {
            "ticks": (
                "sample_source",
                {"rows_per_second": 20, "columns": [{"name": "n", "expression": "value"}]},
            ),
            "shown": ("console_sink", {"rows": 5}),
        },
    )
    graph["steps"].append(
        {"id": "loud", "type": "kafka_sink", "config": {"connection": "local", "topic": loud}}
    )
    graph["edges"].append({"from": "views", "to": "loud"})
    job = make_job(graph, interval="1 minute").start().wait_for("running")
    good = [json.dumps({"user": f"u{i}", "n": i - 2}) for i in range(10)]
    write(broker, views, [*good, '{"n": "many"}'])
    write(broker, views, ["{no json"], headers=[("trace", b"7")])

    def seen_samples():
        rows = [e["rows"] for e in job.of_type("sample") if e["step"] == "seen"]
        return None if rows and len(rows[-1]) == 8 else f"samples: {rows[-1:]}"

    wait_until(seen_samples, 60)
    newest = [e["rows"] for e in job.of_type("sample") if e["step"] == "seen"][-1]
    assert {row["user"] for row in newest} == {f"u{i}" for i in range(2, 10)}
    # Printed by the program, batch by batch, and counted by it.
    job.wait_for_out("shown", 20, 60)
    shown = [e["rows"] for e in job.of_type("sample") if e["step"] == "shown"][-1]
    assert all(isinstance(row["n"], int) for row in shown)

    # Within the first real-time batch: the source, and what can't be read put aside.
    def put_aside():
        views = job.counts["views"]
        return None if (views["out"], views["errors"]) == (10, 2) else f"{views}"

    wait_until(put_aside, 60)
    assert job.counts["views"]["in"] == 12
    letters = [t["topic"] for t in job.about["topics"] if t["use"] == "dead_letters"]
    put_aside = read_headers(broker, letters)
    assert [about["headrace.topic"] for about in put_aside] == [views.encode()] * 2
    assert sorted(about.get("trace", b"") for about in put_aside) == [b"", b"7"]
    lag = lambda: job.of_type("metrics")[-1]["segments"]["views"]["lag"]  # noqa: E731
    wait_until(lambda: None if lag() == {f"{views}-0": 0, f"{views}-1": 0} else f"{lag()}", 60)

    # Topics it made have as many partitions as what they are made from.
    topics = AdminClient({"bootstrap.servers": broker})
    (console,) = [t["topic"] for t in job.about["topics"] if t["use"] == "console"]
    known = topics.list_topics(timeout=10).topics
    assert {t: len(known[t].partitions) for t in (loud, console, *letters)} == {
        loud: 2, console: 1, letters[0]: 2,
    }  # fmt: skip
    (of_console,) = topics.describe_configs([ConfigResource("topic", console)]).values()
    assert of_console.result()["retention.ms"].value == "3600000"

    # No line for Headrace is left in the log, and no port is open to others.
    assert '"step"' not in job.log()
    assert {address for address, _ in listening(job.process)} <= {"127.0.0.1"}

    # A broker that falls silent is told of, and so is its return.
    kafka.process.send_signal(signal.SIGSTOP)
    try:
        wait_until(lambda: None if broker in messages(job)[-1] else f"{messages(job)}", 60)
    finally:
        kafka.process.send_signal(signal.SIGCONT)
    wait_until(lambda: None if broker not in messages(job)[-1] else "still away", 60)
    assert job.state == "running"
    write(broker, views, [json.dumps({"user": "late", "n": 1})])
    job.wait_for_out("views", 11)

    # Only Java is a child of the job's own: Java starts others for a moment, such as `chmod`.
    (java,) = [pid for pid in members(job.process) if parent(pid) == job.process.pid]
    os.kill(java, signal.SIGKILL)
    ended = job.wait_for_end()
    assert (ended["code"], ended["state"]) == (1, "backing_off")
    assert "Java" in ended["message"]


def messages(job):
    return [e["message"] for e in job.of_type("state")]


def members(process):
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        stat = launch._stat(int(entry.name))
        if stat is not None and stat.group == process.pid and stat.state != "Z":
            found.append(int(entry.name))
    return found


def parent(pid):
    """The process that started this one, None where it has ended meanwhile."""
    with suppress(FileNotFoundError, ProcessLookupError):
        status = Path(f"/proc/{pid}/status").read_text()
        return int(re.search(r"^PPid:\s*(\d+)", status, re.MULTILINE).group(1))


def listening(process):
    """The addresses and ports that a job's processes listen on."""
    inodes = set()
    for pid in members(process):
        # Processes and descriptors may end while they are looked at.
        with suppress(FileNotFoundError, ProcessLookupError):
            for link in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(FileNotFoundError):
                    target = os.readlink(link)  # noqa: PTH115
                    if target.startswith("socket:["):
                        inodes.add(target[8:-1])
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                address, port = fields[1].split(":")
                yield _address(address), int(port, 16)


def _address(text):
    parts = [str(int(text[i : i + 2], 16)) for i in range(len(text) - 8, len(text), 2)]
    mapped = len(text) == 8 or text[:24] == "0000000000000000FFFF0000"
    return ".".join(reversed(parts)) if mapped else text


@pytest.mark.parametrize(
    ("share", "out", "step", "sentence"),
    [
        (
            "100 / length(value)",
            "'out'",
            "shares",
            "A row divides by zero. Use try_divide, which gives null instead.",
        ),
        (
            "nullif(value, '')",
            "share",
            "out",
            "A row has no topic, its expression is null. Use coalesce.",
        ),
    ],
)
def test_a_row_that_ends_the_query_names_its_step(
    broker, topic, make_job, share, out, step, sentence
):
    lines, to = topic("lines"), topic("out")
    graph = chain(
        {
            "lines": ("kafka_source", source(lines)),
            "shares": ("select", {"columns": [{"name": "share", "expression": share}]}),
            "out": (
                "kafka_sink",
                {"connection": "local", "topic_expression": f"concat('{to}', {out})"},
            ),
        }
    )
    write(broker, lines, ["four", ""])
    ended = make_job(graph).start().wait_for_end(150)
    assert ended.pop("message").startswith(f"{sentence} It was reading {lines}, partition ")
    assert ended == {"code": 65, "state": "failed", "step": step, "permanent": True}


def test_a_broker_that_is_away_is_named(topic, make_job):
    job = make_job(word_count("lines", "counts"), servers="127.0.0.1:9").start()
    ended = job.wait_for_end(20)
    assert (ended["code"], ended["state"], ended["permanent"]) == (75, "backing_off", False)
    assert "127.0.0.1:9" in ended["message"]
    assert "local" in ended["message"]
    assert len(job.log()) < 2000


def test_every_missing_topic_is_named_with_its_step(make_job):
    two = word_count("nowhere", "counts")
    two["steps"].append({"id": "more", "type": "kafka_source", "config": source("nor-here")})
    two["steps"].append({"id": "both", "type": "merge", "config": {}})
    two["edges"] = [e for e in two["edges"] if e["from"] != "lines"]
    two["edges"] += [
        {"from": "lines", "to": "both"},
        {"from": "more", "to": "both"},
        {"from": "both", "to": "words"},
    ]
    job = make_job(two).start()
    ended = job.wait_for_end(20)
    assert ended["code"] == 75
    told = {(p["step"], p["field"], p["topic"]) for p in job.of_type("problem")}
    assert told == {("lines", "topics", "nowhere"), ("more", "topics", "nor-here")}
    assert all(word in ended["message"] for word in ("nowhere", "nor-here"))


def test_a_job_stopped_while_it_starts_ends_cleanly(topic, make_job):
    job = make_job(word_count(topic("lines"), topic("counts"))).start()
    starting = lambda: [e["message"] for e in job.of_type("state")]  # noqa: E731
    wait_until(lambda: None if "Starting Spark." in starting() else f"{starting()}", 60)
    assert job.stop()["code"] == 0
    assert members(job.process) == []
