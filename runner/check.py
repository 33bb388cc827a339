"""Every problem of a graph that can be known without Spark."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runner.graph import Edge, Graph, Step
from runner.problems import Problem
from runner.rows import HEADERS, Rows
from runner.step_type import Input, Sink, Source, StepType

Connections = Mapping[str, Mapping[str, Any]]


@dataclass
class Checked:
    """What is known of a graph: all its problems, and the rows that each sound step gives."""

    problems: list[Problem] = field(default_factory=list)
    rows: dict[str, Rows] = field(default_factory=dict)

    @property
    def errors(self) -> list[Problem]:
        return [p for p in self.problems if p.severity == "error"]


def check(graph: Graph, connections: Connections | None = None, *, headers: bool = True) -> Checked:
    """Find every problem at once; what lies below a step that is at fault is not blamed for it.

    `connections` are those that steps may name; None leaves their names unchecked. Without
    `headers` the rows of sources have none.
    """
    checked = Checked()
    for step in graph.in_order:
        _check_step(graph, step, connections, checked, headers)
    _check_whole(graph, checked)
    return checked


def inputs_of(graph: Graph, step: Step, rows: Mapping[str, Rows]) -> dict[str, Any] | None:
    """The rows of each input port, as `emit` takes them; None where any of them is not known."""
    inputs: dict[str, Any] = {}
    for port in _ports(step):
        edges = [e for e in graph.edges_into.get(step.id, ()) if _port(step, e) == port.name]
        found = [flowing(graph, edge, rows) for edge in edges]
        if not found or any(f is None for f in found):
            return None
        inputs[port.name] = found if port.many else found[0]
    return inputs


def flowing(graph: Graph, edge: Edge, rows: Mapping[str, Rows]) -> Rows | None:
    """The rows on one edge, None where the step they come from is not sound."""
    source = graph.by_id[edge.from_].parsed
    if edge.from_ not in rows or source is None:
        return None
    return source.output(rows[edge.from_], edge.output)


def _port(step: Step, edge: Edge) -> str:
    """The port an edge ends at: named, or the only one there is."""
    ports = _ports(step)
    return edge.port or (ports[0].name if len(ports) == 1 else "rows")


def _ports(step: Step) -> tuple[Input, ...]:
    return step.parsed.input_ports() if step.parsed else step.step_type.inputs


def _check_step(
    graph: Graph, step: Step, connections: Connections | None, checked: Checked, headers: bool
) -> None:
    problems = list(step.config_problems)
    problems += _port_problems(graph, step, checked.rows)
    config = step.parsed
    if config is not None:
        problems += _connection_problems(step, config, connections)
        inputs = inputs_of(graph, step, checked.rows)
        if inputs is not None and all(p.severity == "warning" for p in problems):
            faults = [Problem(step.id, f, message) for f, message in config.faults(**inputs)]
            problems += faults
            if not faults:
                rows = config.gives(**inputs)
                if issubclass(step.step_type, Source) and not headers:
                    rows = rows.without(HEADERS)
                checked.rows[step.id] = rows
    checked.problems += problems


def _port_problems(graph: Graph, step: Step, rows: Mapping[str, Rows]) -> list[Problem]:
    problems = []
    ports = {port.name: port for port in _ports(step)}
    arriving: dict[str, int] = dict.fromkeys(ports, 0)
    for edge in graph.edges_into.get(step.id, ()):
        name = _port(step, edge)
        port = ports.get(name)
        source = graph.by_id[edge.from_]
        if port is None:
            there = ", ".join(ports) or "none: rows begin here"
            message = f"{source.title} is drawn to the input {name}; the inputs are: {there}."
            problems.append(Problem(step.id, "edges", message))
            continue
        arriving[name] += 1
        if arriving[name] == 2 and not port.many:
            message = f"Only one edge may end at {name}; put a merge before it."
            problems.append(Problem(step.id, name, message))
        problems += _output_problems(step, source, edge)
        given = flowing(graph, edge, rows)
        if given is not None and given.kind not in port.kinds:
            message = (
                f"{source.title} gives a {given.kind}; {name} of {step.title} takes "
                f"a {' or a '.join(port.kinds)}."
            )
            problems.append(Problem(step.id, name, message))
    for name, edges in arriving.items():
        if edges == 0:
            where = f"the input {name}" if len(ports) > 1 else "its input"
            message = f"Nothing flows into {step.title}; draw an edge to {where}."
            problems.append(Problem(step.id, name, message))
        elif edges == 1 and ports[name].many:
            message = f"{step.title} has one stream to merge; draw another to it."
            problems.append(Problem(step.id, name, message, "warning"))
    return problems


def _output_problems(step: Step, source: Step, edge: Edge) -> list[Problem]:
    if isinstance(source.parsed, Sink) or not (source.step_type.outputs):
        return [Problem(step.id, "edges", f"{source.title} is a sink; nothing flows out of it.")]
    if source.parsed is None:
        return []
    outputs = source.parsed.output_names()
    if source.step_type.outputs_from is None:
        if edge.output in (None, *outputs):
            return []
        message = f"{source.title} has one output; the edge names another, {edge.output}."
        return [Problem(step.id, "edges", message)]
    if edge.output not in outputs:
        named = f"no output {edge.output}" if edge.output else "several outputs"
        message = f"{source.title} has {named}; choose one of {', '.join(outputs)}."
        return [Problem(step.id, "edges", message)]
    return []


def _connection_problems(
    step: Step, config: StepType, connections: Connections | None
) -> list[Problem]:
    name = getattr(config, "connection", None)
    if connections is None or name is None:
        return []
    if name not in connections:
        there = ", ".join(sorted(connections)) or "none yet; make one first"
        message = f"There is no connection {name}. There are: {there}."
        return [Problem(step.id, "connection", message)]
    if connections[name].get("type", "kafka") != "kafka":
        message = f"{name} is a {connections[name]['type']} connection; choose one to Kafka."
        return [Problem(step.id, "connection", message)]
    return []


def _check_whole(graph: Graph, checked: Checked) -> None:
    if not graph.steps:
        checked.problems.append(Problem(None, "steps", "The pipeline is empty; add a source."))
        return
    types = [step.step_type for step in graph.steps]
    if not any(issubclass(t, Source) for t in types):
        checked.problems.append(Problem(None, "steps", "No rows flow in; add a source."))
    if not any(issubclass(t, Sink) for t in types):
        checked.problems.append(Problem(None, "steps", "No rows flow out; add a sink."))
        return
    sinks = [s.id for s in graph.steps if issubclass(s.step_type, Sink)]
    used = set(sinks).union(*(graph.upstream(s) for s in sinks))
    for step in graph.steps:
        if step.id not in used:
            message = f"No sink reads what {step.title} gives; it does not run until one does."
            checked.problems.append(Problem(step.id, None, message, "warning"))
