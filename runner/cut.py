"""Cut a graph where Spark can't go on within one query: rows then go by an internal topic."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from runner.check import flowing, inputs_of
from runner.graph import Edge, Graph, Step
from runner.problems import Problem
from runner.rows import Rows
from runner.step_type import Sink, State
from runner.steps.internal_topic import FromTopic
from runner.steps.kafka_records import KafkaRecords
from runner.steps.kafka_sink import KafkaSink

KAFKA = (KafkaRecords, KafkaSink)


@dataclass
class Cut:
    """A graph whose segments hang together by internal topics only, and the rows of its steps."""

    graph: Graph
    rows: dict[str, Rows]
    # What each stateful step remembers.
    states: dict[str, State] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def cut(graph: Graph, rows: Mapping[str, Rows]) -> Cut:
    """Put an internal topic on each edge that can't stay within one query.

    That is so where a stateful step follows one that lets none follow (an aggregation in SQL)
    or has the clock of events already; where states would meet in a merge or a join of tables;
    where a stateful step is needed by others too (each is run by one segment only); and where
    the drawing asks for it.
    """
    states = {}
    for step in graph.in_order:
        inputs = inputs_of(graph, step, rows)
        state = step.parsed.state(**inputs) if step.parsed and inputs is not None else None
        if state is not None:
            states[step.id] = state
    edges = _edges(graph, rows, states)
    if not edges:
        return _with_shown(Cut(graph, dict(rows), states))
    return _with_shown(_with_topics(graph, rows, states, edges))


def _edges(graph: Graph, rows: Mapping[str, Rows], states: Mapping[str, State]) -> list[Edge]:
    chosen: list[Edge] = []
    # The stateful steps that are run in the same query above each step, itself included.
    above: dict[str, frozenset[str]] = {}
    for step in graph.in_order:
        state = states.get(step.id)
        edges = graph.edges_into.get(step.id, [])
        streaming = [e for e in edges if (r := flowing(graph, e, rows)) and r.kind != "lookup"]
        mine: set[str] = {step.id} if state else set()
        for edge in edges:
            before = above[edge.from_]
            source = graph.by_id[edge.from_].parsed
            through = source.goes_through() if source else None
            if through or (
                before
                and _ends(graph, rows, states, edge, before, state, together=len(streaming) > 1)
            ):
                chosen.append(edge)
            else:
                mine |= before
        above[step.id] = frozenset(mine)
    return chosen


def _ends(
    graph: Graph,
    rows: Mapping[str, Rows],
    states: Mapping[str, State],
    edge: Edge,
    before: frozenset[str],
    state: State | None,
    *,
    together: bool,
) -> bool:
    """Whether the query that runs the steps `before` can't go on over this edge."""
    if state is None:
        return together
    given = flowing(graph, edge, rows)
    if together and given is not None and given.kind == "table":
        return True
    for id_ in before:
        if states[id_].closes or state.appends or (states[id_].watermark and state.watermark):
            return True
    return any(_needed_elsewhere(graph, id_, edge.to, states) for id_ in before)


def _needed_elsewhere(graph: Graph, step: str, but: str, states: Mapping[str, State]) -> bool:
    """Whether a sink or another stateful step reads what a step gives, not through `but`."""
    stack, seen = [step], {step, but}
    while stack:
        for edge in graph.edges_out_of.get(stack.pop(), []):
            if edge.to in seen:
                continue
            seen.add(edge.to)
            if edge.to in states or issubclass(graph.by_id[edge.to].step_type, Sink):
                return True
            stack.append(edge.to)
    return False


def _with_topics(
    graph: Graph, rows: Mapping[str, Rows], states: dict[str, State], edges: list[Edge]
) -> Cut:
    steps, kept = list(graph.steps), [e for e in graph.edges if e not in edges]
    problems = []
    names = {step.id for step in graph.steps}
    written: dict[tuple[str, str | None], str] = {}
    for edge in edges:
        source = graph.by_id[edge.from_]
        connection = _kafka(graph, edge)
        given = flowing(graph, edge, rows)
        if connection is None or given is None:
            message = (
                f"{source.title} and {graph.by_id[edge.to].title} can't run in one query, and "
                "there is no Kafka to put a topic between them; read from Kafka or write to it."
            )
            problems.append(Problem(edge.to, None, message))
            continue
        config = {"of": edge.from_, "connection": connection}
        if edge.output:
            config["by"] = edge.output
        if source.parsed and source.parsed.goes_through():
            config["topic"] = source.parsed.goes_through() or ""
        came = (edge.from_, edge.output)
        if came not in written:
            port = f"_{edge.output}" if edge.output and edge.output.isidentifier() else ""
            to, from_ = (_free(f"{edge.from_}{port}_{end}", names) for end in ("sent", "received"))
            written[came] = from_
            steps += [
                Step(id=to, type="to_topic", label=source.label, config=config),
                Step(id=from_, type="from_topic", label=source.label, config=config),
            ]
            kept.append(Edge(**{"from": edge.from_, "to": to, "output": edge.output}))
        kept.append(Edge(**{"from": written[came], "to": edge.to, "port": edge.port}))
    # In the order that the inputs of a step were drawn in.
    order = {(e.to, e.port, e.from_): i for i, e in enumerate(graph.edges)}
    back = {from_: came[0] for came, from_ in written.items()}
    kept.sort(key=lambda e: order.get((e.to, e.port, back.get(e.from_, e.from_)), len(order)))
    new = Graph(steps=tuple(steps), edges=tuple(kept))
    return Cut(new, _after(new), states, problems)


def _after(graph: Graph) -> dict[str, Rows]:
    """The rows of each step, now that some come by internal topics."""
    sent = {(s.config["of"], s.config.get("by")): s.id for s in graph.steps if s.type == "to_topic"}
    known: dict[str, Rows] = {}
    waiting = list(graph.in_order)
    while waiting:
        left = []
        for step in waiting:
            config, inputs = step.parsed, inputs_of(graph, step, known)
            if isinstance(config, FromTopic):
                came = known.get(sent[config.came])
                if came is not None:
                    known[step.id] = config.given(came)
            elif config is not None and inputs is not None:
                known[step.id] = config.gives(**inputs)
            if step.id not in known:
                left.append(step)
        if len(left) == len(waiting):
            break
        waiting = left
    return known


def _with_shown(done: Cut) -> Cut:
    """Each step that shows its rows gets a console to show them in."""
    steps, edges = list(done.graph.steps), list(done.graph.edges)
    names = {step.id for step in steps}
    for step in done.graph.in_order:
        if step.parsed and step.parsed.shows() and step.id in done.rows:
            name = _free(f"{step.id}_shown", names)
            steps.append(Step(id=name, type="shown", config={"of": step.id}))
            edges.append(Edge(**{"from": step.id, "to": name}))
            done.rows[name] = done.rows[step.id]
    if len(steps) > len(done.graph.steps):
        done.graph = Graph(steps=tuple(steps), edges=tuple(edges))
    return done


def _free(name: str, names: set[str]) -> str:
    while name in names:
        name += "_"
    names.add(name)
    return name


def _kafka(graph: Graph, edge: Edge) -> str | None:
    """The Kafka nearest to an edge: where its rows come from, else where they go."""
    near = [s for s in graph.in_order if s.id in graph.upstream(edge.to)]
    return next(_connections([*reversed(near), *graph.in_order]), None)


def _connections(steps: list[Step]) -> Iterator[str]:
    for step in steps:
        if isinstance(step.parsed, KAFKA):
            yield step.parsed.connection
