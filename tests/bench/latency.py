"""How long a record takes through a job, Kafka → job → Kafka, and how that compares.

    python -m tests.bench.latency --seconds 4 --rates 300 1000 --rounds 8 --json figures.json

**What is measured.** A producer in a process of its own sends JSON records at a fixed rate, on a
schedule that does not wait for the job (linger 0). Each record carries the moment at which it was
produced; time ends when a consumer in this process has the output. Both read the machine's steady
clock. An output that is a count has no place for the record's moment: there the count says which
record of its key it answers, and the producer's own list, which holds the same moments, says when
that one was sent. How far the producer fell behind its schedule is printed with the rest.

**Workloads** (`workloads.py`): `filter`; `count`, by key, each update; `hopping`, a count in
windows of 10 s that advance by 5 s, each update; `join`, each record with its key's row of a table
that was loaded before, and some of whose rows were deleted.

**Contestants** (`contestants.py`), each a fresh job on fresh topics of one embedded broker, two
partitions a topic. They take turns of a few seconds, round after round, in every second one
backwards: how fast a machine is differs from minute to minute, so that jobs which were measured
minutes apart can't be compared. Who waits for its turn stands still (SIGSTOP), because a job costs
processor time also while nothing comes. Each is started in a session of its own, as Linux
shares the processor out among sessions before it does among processes:
- compiled: the graph, compiled by Headrace and run by its host, in real-time mode. Bad records are
  skipped, so that it does what the others do; `compiled with dead letters` has Headrace's default,
  a second query that watches for them. `compiled micro-batch` is the count in the other mode.
- by hand: PySpark in real-time mode with the settings that decide latency (`by_hand.py`), and with
  what the compiled job writes: outputs that have a header by which repeats can be dropped.
  `by hand without ids` leaves the header out.
- tuned micro-batch, stock: the same by hand in micro-batches, with those settings and without any.
- Kafka Streams (`kafka_streams/Jobs.java`): at-least-once, caching off; exactly-once beside it.

**What counts.** A job first answers a few probes, then has a warm-up, of which all is answered
before the rounds begin; only they count.
Missing is an output that never came (within a minute of the last record), repeated one that came
again, wrong one that no record explains. Jobs in batches give one count for several records of a
key: those are `merged`, and answered when the first count that includes them arrives. Latencies
are of all updates, over all rounds; a ratio is the median of the rounds' own ratios.

**Checkpoints.** In real-time mode the stream pauses at each. The interval is Headrace's default
of two minutes, or longer where the run is, so that these figures lie between two checkpoints;
where one did fall into them the table says so. The pause is measured apart, at an interval of
five seconds: the longest time without any output, and the highest latency, around each checkpoint.

It takes whatever the machine has: only a quiet one gives figures worth keeping.
"""

import argparse
import json
import math
import os
import platform
import shutil
import signal
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from builder.local.kafka import start_kafka
from tests.bench.contestants import (
    BY_HAND,
    COMPILED,
    COMPILED_BATCHES,
    CONTESTANTS,
    KAFKA_STREAMS,
    STOCK,
    TUNED_BATCHES,
    CantCompile,
    Contestant,
    Job,
    Place,
    prepare,
)
from tests.bench.load import PARTITIONS, Answers, Load, Phase, Silent, judge, load_table, run_load
from tests.bench.workloads import WORKLOADS, Topics

DEFAULT_INTERVAL = 120
# How far around a checkpoint its pause is looked for.
AROUND_NS = 1_500_000_000
# What each turn begins with and does not count: who stood still has caught up after it.
SETTLING = Phase(300, 1)
PAUSED = {"filter": "stateless", "count": "stateful"}


@dataclass(frozen=True)
class Figure:
    """How one contestant answered one rate of one workload in one round."""

    workload: str
    contestant: str
    round: int
    answers: Answers
    checkpoints: int


@dataclass(frozen=True)
class Run:
    """A contestant's job, and what it was sent and wrote so far."""

    contestant: Contestant
    workload: str
    topics: Topics
    job: Job
    load: Load

    def __str__(self) -> str:
        return f"{self.workload}, {self.contestant.name}"

    def stand_still(self) -> None:
        """Leave the machine to the others; one that has ended is left alone."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def stop(self) -> None:
        self.go_on()
        self.job.stop()

    def _signal(self, sent: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.job.group, sent)

    def batch_ends(self) -> list[int]:
        """When each real-time batch ended, by the steady clock."""
        return [end for folder in self.job.checkpoints for end in _batch_ends(folder)]


@dataclass(frozen=True)
class Pause:
    """What the checkpoints of one real-time job cost, in milliseconds, one value for each."""

    workload: str
    contestant: str
    gaps: list[float]
    highest: list[float]
    between: list[float]


@dataclass(frozen=True)
class Target:
    """The ratio of two contestants' latencies, and what it should be."""

    workloads: tuple[str, ...]
    over: str
    under: str
    limit: float
    at_least: bool = False

    def holds(self, ratio: float) -> bool:
        return ratio >= self.limit if self.at_least else ratio <= self.limit

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}"


TARGETS = (
    Target(WORKLOADS, COMPILED, BY_HAND, 1.05),
    Target(WORKLOADS, COMPILED, KAFKA_STREAMS, 1.5),
    Target(("count",), STOCK, TUNED_BATCHES, 2, at_least=True),
    Target(("count",), STOCK, COMPILED_BATCHES, 2, at_least=True),
)


class Contest:
    """All runs on one broker, and what they brought."""

    def __init__(self, servers: str, folder: Path, options: argparse.Namespace) -> None:
        self.servers = servers
        self.folder = folder
        self.options = options
        self.figures: list[Figure] = []
        self.pauses: list[Pause] = []
        # What could not be measured, what no record explains: sentences, never left out.
        self.troubles: list[str] = []

    def run(self) -> None:
        for workload in self.options.workloads:
            chosen = [c for c in self._contestants() if workload in c.workloads]
            self._take_turns(chosen, workload)
        if self.options.pause_seconds:
            self._measure_pauses()

    def _contestants(self) -> list[Contestant]:
        return [c for c in CONTESTANTS if not self.options.only or c.name in self.options.only]

    @property
    def _warm_up(self) -> Phase:
        return Phase(max(self.options.rates), self.options.warm_up)

    def _take_turns(self, contestants: list[Contestant], workload: str) -> None:
        """Load one after the other, again and again, while the others stand still."""
        phases = [Phase(rate, self.options.seconds) for rate in self.options.rates]
        # Starting, probing and waiting for the last outputs take a while, too.
        turn = sum(phase.seconds for phase in phases) + 10
        each = self.options.warm_up + 60 + self.options.rounds * turn
        interval = max(DEFAULT_INTERVAL, math.ceil(each * len(contestants)))
        with ExitStack() as stopped_after:
            runs = []
            for contestant in contestants:
                run = self._start(contestant, workload, interval, stopped_after)
                if run and self._load(run, [self._warm_up]) is not None:
                    runs.append(run)
                    run.stand_still()
            for round_ in range(1, self.options.rounds + 1):
                for run in list(runs if round_ % 2 else reversed(runs)):
                    run.go_on()
                    answers = self._load(run, [SETTLING, *phases])
                    run.stand_still()
                    if answers is None:
                        runs.remove(run)
                    else:
                        self._note(run, round_, answers[1:])
            for run in runs:
                if wrong := judge(run.load)[1]:
                    self._trouble(f"{run}: {wrong} outputs that no record explains")

    def _note(self, run: Run, round_: int, answers: list[Answers]) -> None:
        ends = run.batch_ends()
        for one in answers:
            within = sum(one.begin_ns <= end <= one.end_ns for end in ends)
            self.figures.append(Figure(run.workload, run.contestant.name, round_, one, within))
            print(f"  {run}, round {round_}, {one.rate}/s: {_brief(one)}", flush=True)

    def _measure_pauses(self) -> None:
        for workload in (w for w in PAUSED if w in self.options.workloads):
            for contestant in (c for c in self._contestants() if c.name in (COMPILED, BY_HAND)):
                with ExitStack() as stopped_after:
                    run = self._start(contestant, workload, 5, stopped_after)
                    phase = Phase(min(self.options.rates), self.options.pause_seconds)
                    answers = run and self._load(run, [self._warm_up, phase])
                    if not run or not answers:
                        continue
                    pause = _pause(run, answers[-1])
                    self.pauses.append(pause)
                    if answers[-1].missing or answers[-1].repeated:
                        self._trouble(f"{run}, pause at checkpoints: {_losses(answers[-1])}")
                    print(f"  {run}: {len(pause.gaps)} checkpoints", flush=True)

    def _start(
        self, contestant: Contestant, workload: str, interval: int, stopped_after: ExitStack
    ) -> Run | None:
        """A fresh job on fresh topics, None where it can't be had."""
        name = f"{workload}-{uuid.uuid4().hex[:6]}"
        topics = Topics(f"{name}-records", f"{name}-table", f"{name}-outputs")
        place = Place(self.servers, topics, self.folder / name, workload, f"{interval} seconds")
        self._make_topics(topics)
        load_table(self.servers, topics.table)
        if not self.options.keep:
            stopped_after.callback(shutil.rmtree, place.folder, ignore_errors=True)
        try:
            job = contestant.start(place)
        except CantCompile as refused:
            self._trouble(f"{workload}, {contestant.name}: can't be compiled yet: {refused}")
            return None
        run = Run(contestant, workload, topics, job, Load(workload, contestant.merges))
        stopped_after.callback(run.stop)
        try:
            job.wait_until_ready()
        except Silent as trouble:
            self._trouble(f"{run}: not measured: {trouble}\n{job.log()}")
            return None
        return run

    def _load(self, run: Run, phases: list[Phase]) -> list[Answers] | None:
        """How a job answers some phases more, None where it does not."""
        try:
            run_load(self.servers, run.topics, run.load, phases, run.job.is_alive)
        except (Silent, KafkaException) as trouble:
            self._trouble(f"{run}: not measured: {trouble}\n{run.job.log()}")
            return None
        return judge(run.load)[0][-len(phases) :]

    def _make_topics(self, topics: Topics) -> None:
        names = (topics.records, topics.table, topics.outputs)
        wanted = [NewTopic(name, num_partitions=PARTITIONS) for name in names]
        admin = AdminClient({"bootstrap.servers": self.servers})
        for future in admin.create_topics(wanted).values():
            future.result()

    def _trouble(self, sentence: str) -> None:
        self.troubles.append(sentence)
        print(f"  {sentence}", flush=True)


def _batch_ends(checkpoint: Path) -> list[int]:
    """When each batch was committed, by the steady clock."""
    shift = time.time_ns() - time.monotonic_ns()
    commits = checkpoint.glob("commits/[0-9]*")
    return sorted(path.stat().st_mtime_ns - shift for path in commits)


def _pause(run: Run, answers: Answers) -> Pause:
    """The longest silence and the highest latency around each checkpoint."""
    ends = run.batch_ends()
    pause = Pause(run.workload, run.contestant.name, [], [], [])
    # Both sides of a checkpoint must lie within what is measured.
    whole = [e for e in ends if answers.begin_ns + AROUND_NS < e < answers.end_ns - AROUND_NS]
    for end in whole:
        near = [(at, ms) for at, ms in answers.arrived if abs(at - end) < AROUND_NS]
        pause.gaps.append(
            max(((b - a) / 1e6 for (a, _), (b, _) in pairwise(near)), default=math.nan)
        )
        pause.highest.append(max((ms for _, ms in near), default=math.nan))
    pause.between.extend(
        ms for at, ms in answers.arrived if all(abs(at - end) >= AROUND_NS for end in ends)
    )
    return pause


def _percentile(ordered: list[float], share: float) -> float:
    """The value that so large a share of an ordered list does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def _losses(answers: Answers) -> str:
    return f"{answers.missing} missing, {answers.repeated} repeated"


def _brief(answers: Answers) -> str:
    ordered = sorted(answers.latencies)
    p50, p99 = _percentile(ordered, 0.5), _percentile(ordered, 0.99)
    return f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, {_losses(answers)}"


def rows_of(figures: list[Figure]) -> Iterator[dict[str, Any]]:
    """What all rounds together say of each contestant, workload by workload, rate by rate."""
    for workload in WORKLOADS:
        for rate in sorted({f.answers.rate for f in figures}):
            for contestant in CONTESTANTS:
                rounds = _rounds(figures, workload, contestant.name, rate)
                if rounds:
                    yield _row(workload, contestant.name, rate, rounds)


def _rounds(figures: list[Figure], workload: str, name: str, rate: int) -> dict[int, Figure]:
    return {
        f.round: f
        for f in figures
        if (f.workload, f.contestant, f.answers.rate) == (workload, name, rate)
    }


def _row(workload: str, name: str, rate: int, rounds: dict[int, Figure]) -> dict[str, Any]:
    answers = [f.answers for f in rounds.values()]
    ordered = sorted(ms for a in answers for ms in a.latencies)
    late = sorted(ms for a in answers for ms in a.late_ms)
    return {
        "workload": workload,
        "rate": rate,
        "contestant": name,
        "rounds": len(rounds),
        "p50": _percentile(ordered, 0.5),
        "p99": _percentile(ordered, 0.99),
        "max": _percentile(ordered, 1),
        "p50 by round": [_percentile(sorted(a.latencies), 0.5) for a in answers],
        "updates": sum(a.wanted for a in answers),
        "missing": sum(a.missing for a in answers),
        "repeated": sum(a.repeated for a in answers),
        "merged": sum(a.merged for a in answers),
        "checkpoints": sum(f.checkpoints for f in rounds.values()),
        "producer late p99": _percentile(late, 0.99),
    }


def ratios_of(figures: list[Figure], workloads: list[str]) -> Iterator[dict[str, Any]]:
    """Each target at each rate: the median of the rounds' ratios, and whether it was met."""
    for target in TARGETS:
        for workload in (w for w in target.workloads if w in workloads):
            for rate in sorted({f.answers.rate for f in figures}):
                over = _rounds(figures, workload, target.over, rate)
                under = _rounds(figures, workload, target.under, rate)
                pairs = [(over[r], under[r]) for r in sorted(over.keys() & under.keys())]
                p50 = _ratios(pairs, 0.5)
                yield {
                    "workload": workload,
                    "rate": rate,
                    "of": target.over,
                    "to": target.under,
                    "p50": statistics.median(p50) if p50 else None,
                    "p50 by round": p50,
                    "p99": statistics.median(_ratios(pairs, 0.99)) if p50 else None,
                    "target": str(target),
                    "verdict": _verdict(target, p50, pairs),
                }


def _ratios(pairs: list[tuple[Figure, Figure]], share: float) -> list[float]:
    sides = [[_percentile(sorted(f.answers.latencies), share) for f in pair] for pair in pairs]
    return [over / under for over, under in sides if not math.isnan(over / under)]


def _verdict(target: Target, ratios: list[float], pairs: list[tuple[Figure, Figure]]) -> str:
    if not ratios:
        return "not measured"
    verdict = "met" if target.holds(statistics.median(ratios)) else "missed"
    missing = sum(f.answers.missing for pair in pairs for f in pair)
    return f"{verdict}, but {missing} updates are missing" if missing else verdict


def tell(contest: Contest) -> None:
    """Print the tables, the ratios with their targets, and everything that went wrong."""
    shown = ("p50", "p99", "max", "updates", "missing", "repeated", "merged", "checkpoints")
    rows = list(rows_of(contest.figures))
    of_which: tuple[str, int] | None = None
    for row in rows:
        if (row["workload"], row["rate"]) != of_which:
            of_which = row["workload"], row["rate"]
            print(f"\n{row['workload']}, {row['rate']} records/s; latency in ms")
            print(f"  {'':<28}" + "".join(f"{name:>12}" for name in shown))
        cells = (f"{row[n]:.1f}" if isinstance(row[n], float) else str(row[n]) for n in shown)
        print(f"  {row['contestant']:<28}" + "".join(f"{cell:>12}" for cell in cells))
    if rows:
        late = max(row["producer late p99"] for row in rows)
        print(f"\nThe producer's p99 behind its schedule was {late:.1f} ms at most.")
    _tell_ratios(contest)
    _tell_pauses(contest.pauses)
    print("\nLosses")
    lost = [row for row in rows if row["missing"] or row["repeated"]]
    for row in lost:
        where = f"{row['workload']}, {row['rate']}/s, {row['contestant']}"
        print(f"  {where}: {row['missing']} missing, {row['repeated']} repeated")
    if not lost:
        print("  nothing missing, nothing repeated" if rows else "  nothing was measured")
    for trouble in contest.troubles:
        print(f"  {trouble}")


def _tell_ratios(contest: Contest) -> None:
    print(f"\n{'Ratios, median of the rounds':<62}{'p50':>6}{'rounds':>14}{'target':>9}{'p99':>8}")
    for ratio in ratios_of(contest.figures, contest.options.workloads):
        about = f"{ratio['workload']}, {ratio['rate']}/s: {ratio['of']} to {ratio['to']}"
        cells = f"{'–':>6}{'':>14}{ratio['target']:>9}{'':>8}"
        if ratio["p50"] is not None:
            spread = f"{min(ratio['p50 by round']):.2f}–{max(ratio['p50 by round']):.2f}"
            cells = f"{ratio['p50']:>6.2f}{spread:>14}{ratio['target']:>9}{ratio['p99']:>8.2f}"
        print(f"  {about:<60}{cells}  {ratio['verdict']}")


def _tell_pauses(pauses: list[Pause]) -> None:
    if pauses:
        print("\nPause at a real-time checkpoint, in ms (an interval of 5 s)")
        names = ("checkpoints", "silence", "longest", "highest", "between p99")
        print(f"  {'':<34}" + "".join(f"{name:>12}" for name in names))
    for pause in pauses:
        figures = pause_figures(pause)
        cells = (f"{v:.0f}" for name, v in figures.items() if name in names)
        about = f"{PAUSED[pause.workload]} ({pause.workload}), {pause.contestant}"
        print(f"  {about:<34}" + "".join(f"{cell:>12}" for cell in cells))


def pause_figures(pause: Pause) -> dict[str, float]:
    """How many checkpoints; the median and the longest silence; the highest latency at one."""
    return {
        "checkpoints": len(pause.gaps),
        "silence": statistics.median(pause.gaps) if pause.gaps else math.nan,
        "longest": max(pause.gaps, default=math.nan),
        "highest": max(pause.highest, default=math.nan),
        "between p99": _percentile(sorted(pause.between), 0.99),
    }


def as_json(contest: Contest, about: dict[str, Any]) -> str:
    pauses = [
        {
            "workload": pause.workload,
            "contestant": pause.contestant,
            "silences": pause.gaps,
            "highest latencies": pause.highest,
            **pause_figures(pause),
        }
        for pause in contest.pauses
    ]
    everything = {
        "about": about,
        "figures": list(rows_of(contest.figures)),
        "ratios": list(ratios_of(contest.figures, contest.options.workloads)),
        "pauses": pauses,
        "troubles": contest.troubles,
    }
    return json.dumps(_without_nan(everything), indent=1, ensure_ascii=False)


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_nan(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def main() -> None:
    options = _options()
    # So that jobs and broker are stopped when somebody ends this.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    prepare()
    about: dict[str, Any] = {
        "options": {k: str(v) if isinstance(v, Path) else v for k, v in vars(options).items()},
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "load before": os.getloadavg(),
    }
    folder = Path(tempfile.mkdtemp(prefix="latency-", dir=options.data))
    print(f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}; data in {folder}")
    try:
        with start_kafka(folder) as broker:
            contest = Contest(broker.url, folder, options)
            try:
                contest.run()
            except KeyboardInterrupt:
                contest.troubles.append("Interrupted: what follows is not all that was asked for.")
            tell(contest)
            about["load after"] = os.getloadavg()
            if options.json:
                options.json.write_text(as_json(contest, about) + "\n")
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


def _options() -> argparse.Namespace:
    words = argparse.ArgumentParser(
        prog="tests.bench.latency", description="Latency of jobs, Kafka → job → Kafka."
    )
    names = [c.name for c in CONTESTANTS]
    words.add_argument("--seconds", type=float, default=4, help="of each rate, in each round")
    words.add_argument("--rates", type=int, nargs="+", default=[300, 1000], help="records/s")
    words.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    words.add_argument("--only", nargs="+", choices=names, help="these contestants; else all")
    words.add_argument("--rounds", type=int, default=8)
    words.add_argument("--warm-up", type=float, default=40, help="seconds before what counts")
    words.add_argument(
        "--pause-seconds", type=float, default=30, help="of the pause at checkpoints; 0: leave out"
    )
    words.add_argument("--json", type=Path, help="a file for all figures")
    words.add_argument("--data", type=Path, help="a folder for what is temporary")
    words.add_argument("--keep", action="store_true", help="leave logs and checkpoints there")
    return words.parse_args()


if __name__ == "__main__":
    main()
