"""How long a pipeline is silent while another version takes its place, and whether rows are lost.

    python -m tests.bench.replace --rounds 3 --json figures.json

**What is measured.** A whole Headrace runs a filter and a count by key under an open-loop load of
1,000 numbered records a second. In each round the filter is edited and deployed, then, beside it,
the deployment is stopped and started again, as one does where nothing stands by. The gap is the
longest time between two records that come out for the first time, from the click until 10 seconds
after the new run says that it runs. Records that never come out are missing; those that come out
again are repeats, which carry the name of the first (`headrace.id`).

**Target.** None missing, no repeat without its name; a gap of a replacement that is smaller than
that of stopping and starting. Where not, the exit code is 1.
"""

import argparse
import json
import statistics
import tempfile
import threading
import time
import uuid
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from tests.headrace import Headrace

SETTLED_SECONDS = 10
TICK_SECONDS = 0.01
MODES = ("real_time", "micro_batch")


class Load:
    """Writes numbered records at a rate, and notes when each comes out."""

    def __init__(self, servers: str, read: str, written: str, rate: int) -> None:
        self.servers, self.read, self.written, self.rate = servers, read, written, rate
        self.sent = 0
        # For each number when it came out first; for each name of a record, how often.
        self.came: dict[int, float] = {}
        self.times: dict[int, dict[bytes, int]] = defaultdict(lambda: defaultdict(int))
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=t) for t in (self._send, self._receive)]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _send(self) -> None:
        producer = Producer(
            {"bootstrap.servers": self.servers, "enable.idempotence": True, "linger.ms": 0}
        )
        begun = time.monotonic()
        while not self._ended.wait(TICK_SECONDS):
            while self.sent < (time.monotonic() - begun) * self.rate:
                value = json.dumps({"n": self.sent, "k": f"k{self.sent % 100}"})
                producer.produce(self.read, value=value, key=f"k{self.sent % 100}")
                self.sent += 1
            producer.poll(0)
        assert producer.flush(60) == 0

    def _receive(self) -> None:
        consumer = Consumer(
            {"bootstrap.servers": self.servers, "group.id": "bench", "enable.auto.commit": False}
        )
        consumer.assign([TopicPartition(self.written, n, 0) for n in range(2)])
        quiet = 0
        # After the last was sent, what is still on its way.
        while not self._ended.is_set() or quiet < 5:
            records = consumer.consume(1000, timeout=1)
            now = time.monotonic()
            quiet = 0 if records else quiet + 1
            for record in records:
                if record.error() is None:
                    number = json.loads(record.value())["n"]
                    self.came.setdefault(number, now)
                    self.times[number][dict(record.headers() or ())["headrace.id"]] += 1
        consumer.close()

    def silence(self, since: float) -> float:
        """The longest time since then in which nothing came out for the first time."""
        moments = [since, *sorted(at for at in list(self.came.values()) if at >= since)]
        return max(b - a for a, b in pairwise(moments))


def graph(read: str, seen: str, counts: str, least: int) -> dict[str, Any]:
    """A filter, which is what changes, beside a count by key."""
    local = {"connection": "local"}
    columns = [{"name": "n", "type": "bigint"}, {"name": "k", "type": "string"}]
    count = {"group_by": ["k"], "aggregations": [{"name": "count", "function": "count"}]}
    return {
        "version": 1,
        "steps": [
            {"id": "numbers", "type": "kafka_source",
             "config": {**local, "topics": [read], "format": "json", "columns": columns}},
            {"id": "kept", "type": "filter", "config": {"condition": f"n >= {least}"}},
            {"id": "counted", "type": "aggregate", "config": count},
            {"id": "seen", "type": "kafka_sink", "config": {**local, "topic": seen}},
            {"id": "counts", "type": "kafka_sink", "config": {**local, "topic": counts}},
        ],
        "edges": [
            {"from": "numbers", "to": "kept"},
            {"from": "kept", "to": "seen"},
            {"from": "numbers", "to": "counted"},
            {"from": "counted", "to": "counts"},
        ],
    }  # fmt: skip


def measured(headrace: Headrace, mode: str, rate: int, rounds: int) -> dict[str, Any]:
    """The gaps of one mode, and what was lost or repeated."""
    prefix = uuid.uuid4().hex[:6]
    topics = [f"{prefix}-{name}" for name in ("numbers", "seen", "counts")]
    for topic in topics:
        headrace.post(
            f"/api/connections/{headrace.connection}/topics", {"topic": topic, "partitions": 2}
        )
    made = headrace.post("/api/pipelines", {"name": f"{prefix} gap", "graph": graph(*topics, 0)})
    asked = {"pipeline": made["id"], "mode": mode}
    deployment = headrace.post("/api/deployments", asked)["id"]
    headrace.until_state(deployment, "running", 120)
    gaps: dict[str, list[float]] = {"replaced": [], "stopped and started": []}

    def until_running(epoch: int) -> None:
        def check() -> str | None:
            found = headrace.deployment(deployment)
            run = found["runs"][0]
            is_there = run["epoch"] == epoch and not run["standby"] and found["state"] == "running"
            return None if is_there else f"{found['state']}: {found['message']}"

        headrace.until(check, 120)
        time.sleep(SETTLED_SECONDS)

    with Load(headrace.servers, topics[0], topics[1], rate) as load:
        time.sleep(2 * SETTLED_SECONDS)
        epoch = 1
        for round_ in range(1, rounds + 1):
            draft = headrace.get(f"/api/pipelines/{made['id']}")
            edited = {"revision": draft["revision"], "graph": graph(*topics, -round_)}
            headrace.session.put(f"{headrace.url}/api/pipelines/{made['id']}", json=edited)
            clicked = time.monotonic()
            headrace.post("/api/deployments", asked)
            until_running(epoch := epoch + 1)
            gaps["replaced"].append(load.silence(clicked))
            clicked = time.monotonic()
            headrace.post(f"/api/deployments/{deployment}/stop")
            headrace.until_state(deployment, "stopped", 60)
            headrace.post(f"/api/deployments/{deployment}/start")
            until_running(epoch := epoch + 1)
            gaps["stopped and started"].append(load.silence(clicked))
            print(f"  {mode}, round {round_}: " + ", ".join(
                f"{name} {found[-1]:.1f} s" for name, found in gaps.items()
            ), flush=True)  # fmt: skip
    headrace.post(f"/api/deployments/{deployment}/stop")
    headrace.until_state(deployment, "stopped", 60)
    return {
        "mode": mode,
        "gaps": gaps,
        "sent": load.sent,
        "missing": load.sent - len(load.came),
        "repeats": sum(sum(times.values()) - 1 for times in load.times.values()),
        "unnamed": sum(len(times) > 1 for times in load.times.values()),
    }


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--rate", type=int, default=1000, help="records/s")
    asked.add_argument("--modes", nargs="+", choices=MODES, default=list(MODES))
    asked.add_argument("--json", type=Path, help="a file for all figures")
    options = asked.parse_args()
    figures = []
    with tempfile.TemporaryDirectory(prefix="headrace-gap-") as folder:
        headrace = Headrace(Path(folder) / "data")
        headrace.data.mkdir()
        headrace.start()
        try:
            for mode in options.modes:
                figures.append(measured(headrace, mode, options.rate, options.rounds))
        finally:
            headrace.stop()
    met = True
    for found in figures:
        replaced, stopped = (statistics.median(gaps) for gaps in found["gaps"].values())
        good = not found["missing"] and not found["unnamed"] and replaced < stopped
        met = met and good
        print(
            f"{found['mode']}: gap {replaced:.1f} s replaced, {stopped:.1f} s stopped and started, "
            f"ratio {stopped / replaced:.1f}; of {found['sent']} records {found['missing']} "
            f"missing, {found['repeats']} repeats, {found['unnamed']} of them without a name: "
            f"{'met' if good else 'MISSED'}"
        )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    return 0 if met else 1


if __name__ == "__main__":
    raise SystemExit(main())
