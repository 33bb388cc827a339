"""An open-loop load: a producer that keeps to its schedule whatever the job does, and the
moments at which a consumer has the job's outputs.

All moments are of the machine's steady clock, which its processes share.
"""

import gc
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from tests.bench.workloads import (
    Sent,
    Topics,
    Update,
    expected,
    read_output,
    record,
    table_rows,
)

PARTITIONS = 2
PROBES_PER_SECOND = 20


class Silent(Exception):
    """A job ended, or wrote nothing in time."""


@dataclass(frozen=True)
class Phase:
    """A part of the load: so many records a second for so long."""

    rate: int
    seconds: float


@dataclass
class Load:
    """What a job was sent, and what a consumer had when: moment and value of each output.

    A job that `merges` may answer several records with one count. `read` is how much of each
    partition of the outputs was read.
    """

    workload: str
    merges: bool
    phases: list[Phase] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    received: list[tuple[int, bytes]] = field(default_factory=list)
    read: list[int] = field(default_factory=lambda: [0] * PARTITIONS)


@dataclass
class Answers:
    """How one phase of a load was answered: when each answer came, after how many milliseconds.

    `merged` are updates without an output of their own, which a later count covers; only jobs
    in batches may do that, and the covering output's arrival is then the answer.
    """

    rate: int
    arrived: list[tuple[int, float]] = field(default_factory=list)
    wanted: int = 0
    missing: int = 0
    repeated: int = 0
    merged: int = 0
    late_ms: list[float] = field(default_factory=list)
    begin_ns: int = 0
    end_ns: int = 0

    @property
    def latencies(self) -> list[float]:
        return [latency for _, latency in self.arrived]


def load_table(servers: str, topic: str) -> None:
    """Write the table that the join reads."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
    for key, value in table_rows():
        producer.produce(topic, key=key, value=value)
    if producer.flush(20):
        raise Silent("The broker did not take the join's table.")


def run_load(
    servers: str,
    topics: Topics,
    load: Load,
    phases: list[Phase],
    is_alive: Callable[[], bool],
    patience: float = 60,
) -> None:
    """Go on with a load by more phases, from when the job answers, until all is answered.

    What is not answered `patience` seconds after the last record is missing. Raises Silent when
    the job dies, or answers nothing within two minutes.
    """
    first = len(load.phases)
    load.phases += phases
    context = get_context("spawn")
    answered = context.Event()
    ours, theirs = context.Pipe(duplex=False)
    arguments = (servers, topics.records, phases, first, len(load.sent), answered, theirs)
    producer = context.Process(target=_produce, args=arguments, daemon=True)
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": "unused", "enable.auto.commit": False}
    )
    gc.disable()
    try:
        consumer.assign([TopicPartition(topics.outputs, p, n) for p, n in enumerate(load.read)])
        producer.start()
        theirs.close()
        _consume(consumer, load, sum(p.seconds for p in phases), answered, ours, is_alive, patience)
    finally:
        gc.enable()
        producer.terminate()
        producer.join()
        consumer.close()


def _consume(
    consumer: Any,
    load: Load,
    seconds: float,
    answered: Event,
    producer: Connection,
    is_alive: Callable[[], bool],
    patience: float,
) -> None:
    deadline = time.monotonic() + 120
    produced, complete, looked = False, False, 0.0
    while time.monotonic() < deadline:
        message = consumer.poll(0.05)
        now = time.monotonic_ns()
        if message is not None:
            if message.error():
                raise KafkaException(message.error())
            load.received.append((now, message.value()))
            load.read[message.partition()] = message.offset() + 1
            if not answered.is_set():
                answered.set()
                deadline = time.monotonic() + 120 + seconds
            continue
        if not is_alive():
            raise Silent("The job ended.")
        if not produced and answered.is_set() and producer.poll():
            load.sent.extend(producer.recv())
            produced, deadline = True, time.monotonic() + patience
        if produced and not complete and time.monotonic() - looked > 0.5:
            looked = time.monotonic()
            answers, _ = judge(load)
            complete = not any(a.missing for a in answers)
            if complete:
                # A moment more, for what comes twice.
                deadline = time.monotonic() + 1
    if not produced:
        raise Silent("The job answered nothing." if not answered.is_set() else "No producer.")


def judge(load: Load) -> tuple[list[Answers], int]:
    """How each phase was answered, and how many outputs no record explains."""
    wanted = expected(load.workload, load.sent)
    arrivals: dict[Update, list[int]] = defaultdict(list)
    wrong = 0
    for moment, value in load.received:
        update = read_output(load.workload, value)
        if update not in wanted:
            wrong += 1
            continue
        arrivals[update].append(moment)
    covers = _Covers(arrivals) if load.merges else None
    by_phase = {i: Answers(p.rate) for i, p in enumerate(load.phases)}
    for one in load.sent:
        if answers := by_phase.get(one.phase):
            answers.begin_ns = answers.begin_ns or one.sent_ns
            answers.end_ns = one.sent_ns
            answers.late_ms.append(one.late_ns / 1e6)
    for update, one in wanted.items():
        answers = by_phase.get(one.phase)
        if answers is None:
            continue
        answers.wanted += 1
        moments = arrivals.get(update)
        if moments:
            answers.repeated += len(moments) - 1
        elif covers and (cover := covers.of(update)) is not None:
            answers.merged += 1
            moments = [cover]
        if moments:
            answers.arrived.append((moments[0], (moments[0] - one.sent_ns) / 1e6))
        else:
            answers.missing += 1
    for answers in by_phase.values():
        answers.arrived.sort()
    return list(by_phase.values()), wrong


class _Covers:
    """When the first output came that counts a record, where it has none of its own."""

    def __init__(self, arrivals: dict[Update, list[int]]) -> None:
        by_group: dict[Any, list[tuple[int, int]]] = defaultdict(list)
        for (group, count), moments in arrivals.items():
            by_group[group].append((count, moments[0]))
        self.counts: dict[Any, list[int]] = {}
        self.earliest: dict[Any, list[int]] = {}
        for group, seen in by_group.items():
            seen.sort()
            # Of each count: the first arrival of it or of a higher one.
            earliest = list(accumulate((m for _, m in reversed(seen)), min))[::-1]
            self.counts[group], self.earliest[group] = [c for c, _ in seen], earliest

    def of(self, update: Update) -> int | None:
        group, count = update
        place = bisect_left(self.counts.get(group, []), count)
        earliest = self.earliest.get(group, [])
        return earliest[place] if place < len(earliest) else None


def _produce(
    servers: str,
    topic: str,
    phases: list[Phase],
    first: int,
    before: int,
    answered: Event,
    result: Connection,
) -> None:
    """Be the producer's process: a few records until one is answered, then the phases.

    `first` is the number of the first phase; `before` how many records were sent earlier.
    """
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
    sent: list[Sent] = []
    refused: list[str] = []

    def told(error: Any, _: Any) -> None:
        if error is not None:
            refused.append(str(error))

    def send(phase: int, due_ns: int) -> None:
        at_ms, sent_ns, n = time.time_ns() // 1_000_000, time.monotonic_ns(), before + len(sent)
        key, value = record(n, sent_ns)
        producer.produce(topic, key=key, value=value, timestamp=at_ms, on_delivery=told)
        sent.append(Sent(n, phase, sent_ns, at_ms, sent_ns - due_ns))
        producer.poll(0)

    while not answered.wait(1 / PROBES_PER_SECOND):
        send(-1, time.monotonic_ns())
    gc.disable()
    for number, phase in enumerate(phases, first):
        begin = time.monotonic_ns()
        for i in range(int(phase.rate * phase.seconds)):
            due = begin + int(i * 1e9 / phase.rate)
            if (wait := due - time.monotonic_ns()) > 0:
                time.sleep(wait / 1e9)
            send(number, due)
    left = producer.flush(30)
    if left or refused:
        raise Silent(f"The broker did not take {left + len(refused)} records: {refused[:1]}")
    result.send(sent)
