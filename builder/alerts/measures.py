"""What a rule may watch: the one table of all measures, and how each is read and said."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

Json = Mapping[str, Any]
MeasureName = Literal[
    "failed", "backing_off", "restarts", "no_data", "lag", "lag_seconds", "latency_ms",
    "rate_above", "rate_below", "errors", "dropped",
]  # fmt: skip
MEASURE_NAMES: tuple[MeasureName, ...] = get_args(MeasureName)

MINUTE = 60.0


@dataclass(frozen=True)
class Sight:
    """All that rules are asked about one deployment at one moment."""

    state: str
    metrics: Json | None
    # Whether the state is `running`, so that its figures are of now.
    runs: bool
    # Whether it is between a run that ended by itself and the next.
    tries_again: bool
    message: str = ""
    step: str | None = None
    # When runs ended by themselves lately.
    ends: Sequence[datetime] = ()
    # What was counted in the last minute, by kind (errors, dropped) and step. None: not known.
    grown: Mapping[str, Mapping[str, int] | None] = field(default_factory=dict)
    # Whether rows have come in since the last look. None where not known.
    took_rows: bool | None = None


@dataclass(frozen=True)
class Reading:
    """What a measure says now: its value, and where it is worst."""

    value: float
    step: str | None = None
    topic: str | None = None


@dataclass(frozen=True)
class Bounds:
    """Which thresholds make sense."""

    least: float
    most: float
    whole: bool = True


@dataclass(frozen=True)
class Measure:
    """One thing that a rule may watch.

    `read` answers None where nothing can be told, which neither begins an alert nor ends one.
    `said` is the sentence after the deployment's name.
    """

    title: str
    unit: str
    read: Callable[[Sight, float, datetime], Reading | None]
    said: Callable[[Reading, float | None, float, Sight], str]
    # None where it either is so or not: nothing to compare with.
    threshold: Bounds | None = None
    below: bool = False
    # What the rule's seconds are: how long it must last, or the time that is looked back on.
    seconds: Literal["lasts", "within"] = "lasts"
    # For how long it must be over before the alert ends, so that one that comes and goes is one.
    calm: float = MINUTE

    def holds(self, reading: Reading, threshold: float | None) -> bool:
        """Whether this is what the rule warns of."""
        if self.below:
            return reading.value < (threshold or 0)
        return reading.value > (threshold or 0)


# --- How each is read


def _failed(sight: Sight, seconds: float, now: datetime) -> Reading:
    return Reading(float(sight.state == "failed"), sight.step)


def _backing_off(sight: Sight, seconds: float, now: datetime) -> Reading:
    return Reading(float(sight.tries_again), sight.step)


def _restarts(sight: Sight, seconds: float, now: datetime) -> Reading:
    lately = [at for at in sight.ends if (now - at).total_seconds() <= seconds]
    return Reading(float(len(lately)), sight.step)


def _no_data(sight: Sight, seconds: float, now: datetime) -> Reading | None:
    if not sight.runs or sight.took_rows is None:
        return None
    return Reading(float(not sight.took_rows))


def _of_metrics(name: str) -> Callable[[Sight, float, datetime], Reading | None]:
    def read(sight: Sight, seconds: float, now: datetime) -> Reading | None:
        value = (sight.metrics or {}).get(name)
        if not sight.runs or not isinstance(value, int | float):
            return None
        topic = _worst_topic(sight.metrics, name) if name in ("lag", "lag_seconds") else None
        return Reading(float(value), topic=topic)

    return read


def _worst_topic(metrics: Json | None, name: str) -> str | None:
    """Where most records wait, or the oldest one: `topic-partition`."""
    waiting: dict[str, float] = {}
    for segment in ((metrics or {}).get("segments") or {}).values():
        found = segment.get(name)
        if isinstance(found, dict):
            waiting |= {where: n for where, n in found.items() if n}
    return max(waiting, key=lambda where: waiting[where]) if waiting else None


def _per_minute(kind: str) -> Callable[[Sight, float, datetime], Reading | None]:
    def read(sight: Sight, seconds: float, now: datetime) -> Reading | None:
        grown = sight.grown.get(kind)
        if grown is None:
            return None
        worst = max(grown, key=lambda id_: grown[id_], default=None)
        return Reading(float(sum(grown.values())), worst)

    return read


# --- How each is said


def in_words(seconds: float) -> str:
    """A span of time: `45 s`, `2 min`, `1.5 h`."""
    if seconds < 100:
        return f"{seconds:g} s" if seconds == int(seconds) else f"{seconds:.1f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{round(seconds / 3600, 1):g} h"


def number(value: float) -> str:
    """A number as people read it: `12,345`, `3.2`."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def _counted(n: float, one: str, many: str) -> str:
    return f"{number(n)} {one if n == 1 else many}"


def _lag(reading: Reading, threshold: float | None, seconds: float, sight: Sight) -> str:
    where = f", most of them in {reading.topic}" if reading.topic else ""
    wait = _counted(reading.value, "record waits", "records wait")
    return f"{wait} to be read, more than {number(threshold or 0)}{where}"


def _lag_seconds(reading: Reading, threshold: float | None, seconds: float, sight: Sight) -> str:
    where = f" in {reading.topic}" if reading.topic else ""
    waits = f"the oldest record that waits{where} is {in_words(round(reading.value))} old"
    return f"{waits}, more than {in_words(threshold or 0)}"


def _latency(reading: Reading, threshold: float | None, seconds: float, sight: Sight) -> str:
    limit = number(threshold or 0)
    return f"a row takes {number(reading.value)} ms from Kafka to its sink, more than {limit} ms"


def _rate(word: str) -> Callable[[Reading, float | None, float, Sight], str]:
    def said(reading: Reading, threshold: float | None, seconds: float, sight: Sight) -> str:
        return f"{number(reading.value)} rows/s come in, {word} than {number(threshold or 0)}"

    return said


def _errors(reading: Reading, threshold: float | None, seconds: float, sight: Sight) -> str:
    failed = _counted(reading.value, "record could not be read", "records could not be read")
    return f"{failed} in the last minute{_at(reading)}; see its dead letters"


def _dropped(reading: Reading, threshold: float | None, seconds: float, sight: Sight) -> str:
    left = _counted(reading.value, "row was left out", "rows were left out")
    return f"{left} in the last minute{_at(reading)}, unreadable or too late"


def _at(reading: Reading) -> str:
    return f" at {reading.step}" if reading.step else ""


def _said_of(sight: Sight) -> str:
    return f". {sight.message}" if sight.message else ""


def _has_failed(reading: Reading, threshold: float | None, seconds: float, sight: Sight) -> str:
    return f"it failed{_at(reading)} and does not try again by itself{_said_of(sight)}"


def _tries(reading: Reading, threshold: float | None, seconds: float, sight: Sight) -> str:
    return f"it does not run, and tries again{_said_of(sight)}"


def _began_again(reading: Reading, threshold: float | None, seconds: float, sight: Sight) -> str:
    times = _counted(reading.value, "run", "runs")
    return f"{times} ended by themselves within {in_words(seconds)}{_said_of(sight)}"


def _nothing_came(reading: Reading, threshold: float | None, seconds: float, sight: Sight) -> str:
    return f"no row has come in for {in_words(seconds)}"


MEASURES: dict[MeasureName, Measure] = {
    "failed": Measure("It failed", "", _failed, _has_failed, calm=0),
    "backing_off": Measure("It does not run, and tries again", "", _backing_off, _tries, calm=0),
    "restarts": Measure(
        "Runs that ended by themselves", "runs", _restarts, _began_again, Bounds(0, 40),
        seconds="within", calm=0,
    ),
    "no_data": Measure("No row comes in", "", _no_data, _nothing_came, calm=0),
    "lag": Measure(
        "Records that wait to be read", "records", _of_metrics("lag"), _lag, Bounds(0, 1e15)
    ),
    "lag_seconds": Measure(
        "Age of the oldest record that waits", "s", _of_metrics("lag_seconds"), _lag_seconds,
        Bounds(0, 30 * 86400),
    ),
    "latency_ms": Measure(
        "Time from Kafka to the sink", "ms", _of_metrics("latency_ms"), _latency, Bounds(1, 86.4e6)
    ),
    "rate_above": Measure(
        "Rows that come in, at most", "rows/s", _of_metrics("rate"), _rate("more"),
        Bounds(0, 1e9, whole=False),
    ),
    "rate_below": Measure(
        "Rows that come in, at least", "rows/s", _of_metrics("rate"), _rate("fewer"),
        Bounds(0.001, 1e9, whole=False), below=True,
    ),
    "errors": Measure(
        "Dead letters per minute", "per minute", _per_minute("errors"), _errors, Bounds(0, 1e9)
    ),
    "dropped": Measure(
        "Rows left out per minute", "per minute", _per_minute("dropped"), _dropped, Bounds(0, 1e9)
    ),
}  # fmt: skip
