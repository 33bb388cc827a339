"""Cut a graph into segments: one streaming query each, with one checkpoint, in one mode."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from runner.graph import Graph, Step
from runner.problems import Problem
from runner.step_type import Foldable, Sink, Source
from runner.steps.console_sink import ConsoleSink
from runner.steps.kafka_records import KafkaRecords
from runner.steps.kafka_sink import KafkaSink
from runner.steps.kafka_source import KafkaSource
from runner.steps.lookup_table import LookupTable

Mode = Literal["real_time", "micro_batch"]
AskedMode = Literal["auto", "real_time", "micro_batch"]

# How a segment brings its rows to its sinks: `query`, one sink at the end of the query;
# `folded`, several Kafka sinks at the end of one query; `batch`, a function over each batch.
Shape = Literal["query", "folded", "batch", "dead_letters"]


@dataclass(frozen=True)
class Segment:
    """One streaming query of the generated program.

    `trunk` is the last step that all its sinks share, `connection` the Kafka that its records
    go to (None where it writes none). `checkpoint` names its folder: another name as soon as
    the state that is there would no longer fit.
    """

    id: str
    mode: Mode
    reason: str
    steps: tuple[str, ...]
    sinks: tuple[str, ...]
    trunk: str
    shape: Shape
    connection: str | None
    checkpoint: str
    # The step at fault and the reason, for each thing that keeps it from real-time mode.
    hindrances: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {"id": self.id, "mode": self.mode, "reason": self.reason, "steps": list(self.steps)}


@dataclass(frozen=True)
class Plan:
    """The segments of a pipeline; `problems` where a mode was asked for that can't hold."""

    segments: tuple[Segment, ...] = ()
    problems: tuple[Problem, ...] = field(default=())

    def segment_of(self, step: str) -> Segment | None:
        return next((s for s in self.segments if step in s.steps), None)

    def as_text(self) -> str:
        """The plan for people, segment by segment."""
        lines = []
        for segment in self.segments:
            mode = segment.mode.replace("_", "-")
            lines.append(f"segment {segment.id}: {mode}. {segment.reason}")
            lines.append(f"  steps: {' → '.join(segment.steps)}")
            lines.append(f"  checkpoint: {segment.checkpoint}")
        return "\n".join(lines) + "\n"


def plan(graph: Graph, mode: AskedMode = "auto") -> Plan:
    """The segments of a graph that `check` finds sound, in the mode asked for.

    `auto` is real-time wherever every step of a segment can, otherwise micro-batch; the
    segment's reason names the step that decides.
    """
    segments: list[Segment] = []
    problems: list[Problem] = []
    for sinks, trunk in _groups(graph):
        segment = _segment(graph, sinks, trunk, mode)
        segments.append(segment)
        if mode == "real_time":
            problems += [
                Problem(step, None, f"{_sentence(graph, step, why)} Choose micro-batch or auto.")
                for step, why in segment.hindrances
            ]
    segments += _dead_letters(graph, segments)
    return Plan(tuple(segments), tuple(problems))


def _groups(graph: Graph) -> Iterator[tuple[tuple[str, ...], str]]:
    """The sinks that can share one query, with the last step that they all read through."""
    groups: dict[tuple[frozenset[str], frozenset[str]], list[str]] = {}
    for step in graph.in_order:
        if issubclass(step.step_type, Sink):
            above = graph.upstream(step.id)
            stateful = frozenset(i for i in above if graph.by_id[i].step_type.stateful)
            groups.setdefault((stateful, _streams(graph, above)), []).append(step.id)
    for sinks in groups.values():
        trunk = _trunk(graph, sinks) if len(sinks) > 1 else None
        if trunk is not None:
            yield tuple(sinks), trunk
        else:
            for sink in sinks:
                yield (sink,), graph.edges_into[sink][0].from_


def _streams(graph: Graph, steps: frozenset[str]) -> frozenset[str]:
    """The sources among these steps whose rows arrive one after the other."""
    types = {id_: graph.by_id[id_].step_type for id_ in steps}
    return frozenset(
        id_ for id_, t in types.items() if issubclass(t, Source) and t is not LookupTable
    )


def _trunk(graph: Graph, sinks: list[str]) -> str | None:
    common = frozenset.intersection(*(graph.upstream(sink) for sink in sinks))
    for step in reversed(graph.in_order):
        if step.id in common and all(_passes(graph, step.id, sink) for sink in sinks):
            return step.id
    return None


def _passes(graph: Graph, step: str, sink: str) -> bool:
    """Whether all rows on their way to the sink come through the step."""
    seen, stack = {step}, [sink]
    while stack:
        parents = {edge.from_ for edge in graph.edges_into.get(stack.pop(), ())} - seen
        if parents and _streams(graph, frozenset(parents)):
            return False
        seen |= parents
        stack += parents
    return True


def _segment(graph: Graph, sinks: tuple[str, ...], trunk: str, mode: AskedMode) -> Segment:
    used = set(sinks).union(*(graph.upstream(sink) for sink in sinks))
    steps = tuple(step.id for step in graph.in_order if step.id in used)
    connection = _connection(graph, steps, sinks)
    shape = _shape(graph, sinks, trunk, connection)
    hindrances = tuple(_hindrances(graph, steps, trunk, shape, connection))
    id_ = sinks[0] if len(sinks) == 1 else trunk
    stateful = [s for s in steps if graph.by_id[s].step_type.stateful]
    chosen: Mode = "real_time"
    reason = "Every step can run record by record."
    if hindrances:
        chosen, reason = "micro_batch", _sentence(graph, *hindrances[0])
    elif mode == "micro_batch":
        chosen, reason = "micro_batch", "Micro-batch was asked for."
    kept = stateful + sorted(_streams(graph, frozenset(steps)))
    return Segment(
        id=id_,
        mode=chosen,
        reason=reason,
        steps=steps,
        sinks=sinks,
        trunk=trunk,
        shape=shape,
        connection=connection,
        checkpoint=f"{stateful[-1] if stateful else id_}-{_signature(graph, kept)}",
        hindrances=hindrances,
    )


def _connection(graph: Graph, steps: tuple[str, ...], sinks: tuple[str, ...]) -> str | None:
    """The Kafka to write to: the sinks' own, or for a console that of the rows it shows."""
    for type_, among in ((KafkaSink, sinks), (KafkaRecords, steps)):
        for id_ in among:
            config = graph.by_id[id_].parsed
            if isinstance(config, type_):
                return config.connection
    return None


def _shape(graph: Graph, sinks: tuple[str, ...], trunk: str, connection: str | None) -> Shape:
    if connection is None:
        return "batch"
    if len(sinks) == 1:
        return "query"
    configs = [graph.by_id[sink].parsed for sink in sinks]
    one_cluster = all(
        isinstance(c, ConsoleSink) or (isinstance(c, KafkaSink) and c.connection == connection)
        for c in configs
    )
    foldable = all(
        isinstance(graph.by_id[s].parsed, Foldable) for s in between(graph, trunk, sinks)
    )
    return "folded" if one_cluster and foldable else "batch"


def between(graph: Graph, trunk: str, sinks: tuple[str, ...]) -> tuple[str, ...]:
    """The steps after the trunk and before the sinks, in order."""
    above = frozenset().union(*(graph.upstream(sink) for sink in sinks))
    return tuple(
        step.id for step in graph.in_order if step.id in above and trunk in graph.upstream(step.id)
    )


def _hindrances(
    graph: Graph, steps: tuple[str, ...], trunk: str, shape: Shape, connection: str | None
) -> Iterator[tuple[str, str]]:
    for id_ in steps:
        step = graph.by_id[id_]
        reason = step.parsed.batches_only() if step.parsed else None
        if reason:
            yield id_, reason
        if twice := _read_twice(graph, step):
            yield id_, f"its inputs come from {twice} by two ways, and real-time reads it once"
    if shape == "batch" and connection is not None:
        yield (
            trunk,
            "what follows it can't be written by one query, so each batch is kept and shared",
        )


def _read_twice(graph: Graph, step: Step) -> str | None:
    seen: set[str] = set()
    for edge in graph.edges_into.get(step.id, ()):
        above = _streams(graph, graph.upstream(edge.from_) | {edge.from_})
        if both := seen & above:
            return graph.by_id[min(both)].title
        seen |= above
    return None


def _sentence(graph: Graph, step: str, why: str) -> str:
    return f"{graph.by_id[step].title} ({step}) runs in batches: {why}."


def _dead_letters(graph: Graph, segments: list[Segment]) -> Iterator[Segment]:
    used = {step for segment in segments for step in segment.steps}
    for step in graph.in_order:
        config = step.parsed
        if step.id in used and isinstance(config, KafkaSource) and config.has_dead_letters:
            yield Segment(
                id=f"{step.id}_dead_letters",
                mode="micro_batch",
                reason="Records that can't be read are put aside once a second.",
                steps=(step.id,),
                sinks=(),
                trunk=step.id,
                shape="dead_letters",
                connection=config.connection,
                checkpoint=f"{step.id}_dead_letters-{_signature(graph, [step.id])}",
            )


def _signature(graph: Graph, steps: list[str]) -> str:
    parts = [[id_, graph.by_id[id_].parsed.signature()] for id_ in steps]  # type: ignore[union-attr]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:10]
