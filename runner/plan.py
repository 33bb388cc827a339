"""Cut a graph into segments: one streaming query each, with one checkpoint, in one mode."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter
from typing import Any, Literal

from runner.check import flowing
from runner.cut import Cut, cut
from runner.graph import Graph, Step
from runner.problems import Problem
from runner.rows import Rows
from runner.step_type import Foldable, Sink, Source
from runner.steps.console_sink import ConsoleSink
from runner.steps.internal_topic import INTERNAL, FromTopic, ToTopic
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
    the state that is there would no longer fit. `appends` where each row comes once, when it is
    final; `loads` where what the topics hold is taken in before it runs on.
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
    appends: bool = False
    loads: bool = False
    # Steps that people drew, without those of the plan; how often its rows are shuffled.
    drawn: tuple[str, ...] = ()
    shuffles: int = 0
    # The plan's own sources: what it reads of internal topics.
    receives: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "mode": self.mode,
            "reason": self.reason,
            "steps": list(self.drawn),
            "shuffles": self.shuffles,
            "receives": list(self.receives),
        }


@dataclass(frozen=True)
class Plan:
    """The segments of a pipeline; `problems` where it can't be planned as asked.

    `graph` has the steps that the plan adds (the ends of internal topics), `rows` those of each.
    """

    graph: Graph = field(default_factory=Graph)
    rows: Mapping[str, Rows] = field(default_factory=dict)
    segments: tuple[Segment, ...] = ()
    problems: tuple[Problem, ...] = field(default=())

    def segment_of(self, step: str) -> Segment | None:
        return next((s for s in self.segments if step in s.steps), None)

    def as_text(self, name: str) -> str:
        """The plan of the pipeline called `name` for people, segment by segment."""
        lines = []
        for segment in self.segments:
            mode = segment.mode.replace("_", "-")
            lines.append(f"segment {segment.id}: {mode}. {segment.reason}")
            for id_ in segment.steps:
                config = self.graph.by_id[id_].parsed
                if isinstance(config, FromTopic):
                    lines.append(f"  reads: {config.topic_of(name)}")
            lines.append(f"  steps: {' → '.join(segment.drawn)}")
            for id_ in segment.steps:
                config = self.graph.by_id[id_].parsed
                if isinstance(config, ToTopic):
                    kind = self.rows[id_].kind
                    lines.append(f"  writes: {config.topic_of(name)} (the {kind} {config.of})")
            if segment.loads:
                lines.append("  takes in what its topics hold before it runs on")
            lines.append(f"  checkpoint: {segment.checkpoint}")
            shuffles = "once" if segment.shuffles == 1 else f"{segment.shuffles} times"
            if segment.shuffles:
                lines.append(f"  shuffles its rows {shuffles}")
        return "\n".join(lines) + "\n"


def plan(graph: Graph, rows: Mapping[str, Rows], mode: AskedMode = "auto") -> Plan:
    """The segments of a graph that `check` finds sound, with the rows that `check` tells.

    `auto` is real-time wherever every step of a segment can, otherwise micro-batch; the
    segment's reason names the step that decides.
    """
    done = cut(graph, rows)
    segments: list[Segment] = []
    problems: list[Problem] = list(done.problems)
    for sinks, trunk in _groups(done):
        segment = _segment(done, sinks, trunk, mode, {s.id for s in segments})
        segments.append(segment)
        if mode == "real_time":
            problems += [
                Problem(
                    step, None, _sentence(done.graph, step, why) + " Choose micro-batch or auto."
                )
                for step, why in segment.hindrances
            ]
    segments = _loading(done, _in_order(done.graph, segments))
    segments += _dead_letters(done.graph, segments)
    return Plan(done.graph, done.rows, tuple(segments), tuple(problems))


def _in_order(graph: Graph, segments: list[Segment]) -> list[Segment]:
    """The segments, each after those whose internal topics it reads."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for segment in segments:
        sorter.add(segment.id, *(s.id for s in _feeding(graph, segments, segment)))
    by_id = {segment.id: segment for segment in segments}
    return [by_id[id_] for id_ in sorter.static_order()]


def _feeding(graph: Graph, segments: list[Segment], segment: Segment) -> Iterator[Segment]:
    for id_ in segment.steps:
        config = graph.by_id[id_].parsed
        if isinstance(config, FromTopic):
            for other in segments:
                ends = (graph.by_id[sink].parsed for sink in other.sinks)
                if any(isinstance(e, ToTopic) and e.came == config.came for e in ends):
                    yield other


def _loading(done: Cut, segments: list[Segment]) -> list[Segment]:
    """Mark those that first take in what is there, in one batch.

    Those that need whole tables, with all that these come from; and those that remember in
    real-time mode: what they did not commit before a crash they would else see again in another
    order, and tell of values in between that never were.
    """
    whole: set[str] = set()
    loading: set[str] = set()
    for segment in reversed(segments):
        states = [done.states[s] for s in segment.steps if s in done.states]
        if segment.id in whole or any(state.loads for state in states):
            whole |= {segment.id, *(s.id for s in _feeding(done.graph, segments, segment))}
        if states and segment.mode == "real_time":
            loading.add(segment.id)
    return [replace(s, loads=s.id in whole | loading) for s in segments]


def waves(graph: Graph, segments: list[Segment]) -> list[list[Segment]]:
    """Segments in the order in which they can take in what is there, those of a wave together."""
    depths: dict[str, int] = {}
    for segment in segments:
        above = [depths[s.id] for s in _feeding(graph, segments, segment) if s.id in depths]
        depths[segment.id] = max(above, default=-1) + 1
    deepest = max(depths.values(), default=-1)
    return [[s for s in segments if depths[s.id] == n] for n in range(deepest + 1)]


def _groups(done: Cut) -> Iterator[tuple[tuple[str, ...], str]]:
    """The sinks that can share one query, with the last step that they all read through."""
    graph = done.graph
    groups: dict[tuple[frozenset[str], frozenset[str]], list[str]] = {}
    for step in graph.in_order:
        if issubclass(step.step_type, Sink):
            above = graph.upstream(step.id)
            stateful = frozenset(i for i in above if i in done.states)
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


def _segment(
    done: Cut, sinks: tuple[str, ...], trunk: str, mode: AskedMode, names: set[str]
) -> Segment:
    graph = done.graph
    used = set(sinks).union(*(graph.upstream(sink) for sink in sinks))
    steps = tuple(step.id for step in graph.in_order if step.id in used)
    connection = _connection(graph, steps, sinks)
    shape = _shape(graph, sinks, trunk, connection)
    hindrances = tuple(_hindrances(done, steps, trunk, shape, connection))
    drawn = tuple(id_ for id_ in steps if graph.by_id[id_].type not in INTERNAL)
    id_ = sinks[0] if len(sinks) == 1 and sinks[0] in drawn else trunk
    while id_ in names:
        id_ += "_"
    stateful = [s for s in steps if s in done.states]
    chosen: Mode = "real_time"
    reason = "Every step can run record by record."
    if hindrances:
        chosen, reason = "micro_batch", _sentence(graph, *hindrances[0])
    elif mode == "micro_batch":
        chosen, reason = "micro_batch", "Micro-batch was asked for."
    kept = stateful + sorted(_streams(graph, frozenset(steps)))
    repeating = [s for s in stateful if drops_repeats(graph, done.rows, s)]
    return Segment(
        id=id_,
        mode=chosen,
        reason=reason,
        steps=steps,
        sinks=sinks,
        trunk=trunk,
        shape=shape,
        connection=connection,
        checkpoint=f"{stateful[-1] if stateful else id_}-{_signature(done, kept)}",
        hindrances=hindrances,
        appends=any(done.states[s].appends for s in stateful),
        drawn=drawn,
        shuffles=len(stateful) + len(repeating),
        receives=tuple(id_ for id_ in steps if graph.by_id[id_].type == "from_topic"),
    )


def drops_repeats(graph: Graph, rows: Mapping[str, Rows], step: str) -> bool:
    """Whether rows may come to a stateful step twice, by way of an internal topic."""
    given = (flowing(graph, edge, rows) for edge in graph.edges_into.get(step, ()))
    return any(r is not None and r.repeats and r.version is not None for r in given)


def _connection(graph: Graph, steps: tuple[str, ...], sinks: tuple[str, ...]) -> str | None:
    """The Kafka to write to: the sinks' own, or for a console that of the rows it shows."""
    for types, among in (((KafkaSink, ToTopic), sinks), ((KafkaRecords, FromTopic), steps)):
        for id_ in among:
            config = graph.by_id[id_].parsed
            if isinstance(config, types):
                return config.connection
    return None


def _shape(graph: Graph, sinks: tuple[str, ...], trunk: str, connection: str | None) -> Shape:
    if connection is None:
        return "batch"
    if len(sinks) == 1:
        return "query"
    configs = [graph.by_id[sink].parsed for sink in sinks]
    one_cluster = all(
        isinstance(c, ConsoleSink)
        or (isinstance(c, KafkaSink | ToTopic) and c.connection == connection)
        for c in configs
    )
    foldable = can_fold(graph, between(graph, trunk, sinks))
    return "folded" if one_cluster and foldable else "batch"


def can_fold(graph: Graph, steps: tuple[str, ...]) -> bool:
    """Whether these steps can be folded into one query."""
    configs = (graph.by_id[id_].parsed for id_ in steps)
    return all(isinstance(config, Foldable) and config.folds() for config in configs)


def between(graph: Graph, trunk: str, sinks: tuple[str, ...]) -> tuple[str, ...]:
    """The steps after the trunk and before the sinks, in order."""
    above = frozenset().union(*(graph.upstream(sink) for sink in sinks))
    return tuple(
        step.id for step in graph.in_order if step.id in above and trunk in graph.upstream(step.id)
    )


def _hindrances(
    done: Cut, steps: tuple[str, ...], trunk: str, shape: Shape, connection: str | None
) -> Iterator[tuple[str, str]]:
    graph = done.graph
    for id_ in steps:
        step = graph.by_id[id_]
        reason = step.parsed.batches_only() if step.parsed else None
        if reason:
            yield id_, reason
        if twice := _read_twice(graph, step):
            yield id_, f"its inputs come from {twice} by two ways, and real-time reads it once"
        if _brings_states_together(done, step):
            yield (
                id_,
                "what flows into it was already remembered, which only batches bring together",
            )
    if shape == "batch" and connection is not None:
        yield (
            trunk,
            "what follows it can't be written by one query, so each batch is kept and shared",
        )


def _brings_states_together(done: Cut, step: Step) -> bool:
    """Whether a union would follow a stateful operator, which real-time mode refuses."""
    edges = done.graph.edges_into.get(step.id, ())
    given = [flowing(done.graph, edge, done.rows) for edge in edges]
    if sum(r is not None and r.kind != "lookup" for r in given) < 2:
        return False
    above = frozenset().union(*(done.graph.upstream(e.from_) | {e.from_} for e in edges))
    joins = step.id in done.states and drops_repeats(done.graph, done.rows, step.id)
    return joins or bool(above & done.states.keys())


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
                checkpoint=f"{step.id}_dead_letters-{_signature(Cut(graph, {}), [step.id])}",
                drawn=(step.id,),
            )


def _signature(done: Cut, steps: list[str]) -> str:
    parts: list[Any] = []
    for id_ in steps:
        config = done.graph.by_id[id_].parsed
        assert config is not None
        parts.append([id_, config.signature()])
        if id_ in done.states:
            parts.append([[c.name, c.type] for c in done.states[id_].keeps])
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:10]
