"""A pipeline as data: steps and the edges between them."""

import builtins
import hashlib
import json
import keyword
import math
import re
from collections import defaultdict
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runner.problems import InvalidGraph, Problem
from runner.sql import suggestion
from runner.step_type import StepType
from runner.steps import STEP_TYPES
from runner.steps.internal_topic import INTERNAL

MAX_STEPS = 2_000
MAX_EDGES = 10_000
MAX_DEPTH = 40
MAX_TEXT = 20_000

# Names the generated program uses for itself.
_TAKEN = {
    "loading",
    "spark",
    "print",
    "json",
    "datetime",
    "state_operator",
    "call_for_each",
    "plain_key",
}
_ID = re.compile(r"[a-z][a-z0-9_]{0,62}")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Edge(_Part):
    """Rows flow from a step (by one of its outputs) to an input port of another."""

    from_: str = Field(alias="from")
    to: str
    output: str | None = None
    port: str | None = None


class Step(_Part):
    """A step type placed on the canvas. `id` names it in the generated program, too."""

    id: str
    type: str
    label: str = Field("", max_length=200)
    config: dict[str, Any] = Field(default_factory=dict)

    @property
    def step_type(self) -> builtins.type[StepType]:
        return STEP_TYPES.get(self.type) or INTERNAL[self.type]

    @property
    def title(self) -> str:
        """What people call this step: its label, else its type's title."""
        return self.label or self.step_type.title

    @cached_property
    def parsed(self) -> StepType | None:
        """The configuration, read; None where it is not sound (`config_problems` says why)."""
        return self._parsed[0]

    @cached_property
    def config_problems(self) -> list[Problem]:
        """What is wrong with the configuration, looked at alone."""
        return self._parsed[1]

    @cached_property
    def unknown_fields(self) -> list[Problem]:
        """Those of the problems that are fields which the step type does not have."""
        return self._parsed[2]

    @cached_property
    def _parsed(self) -> tuple[StepType | None, list[Problem], list[Problem]]:
        try:
            return self.step_type.model_validate(self.config), [], []
        except ValidationError as error:
            found = [(e["type"], _config_problem(self.id, e)) for e in error.errors()]
            unknown = [problem for kind, problem in found if kind == _UNKNOWN_FIELD]
            return None, [problem for _, problem in found], unknown


class Graph(_Part):
    """Steps and edges of sound shape: known types, unique ids, no loose ends, no cycles."""

    version: Literal[1] = 1
    steps: tuple[Step, ...] = ()
    edges: tuple[Edge, ...] = ()
    canvas: dict[str, Any] = Field(default_factory=dict)

    @cached_property
    def by_id(self) -> dict[str, Step]:
        return {step.id: step for step in self.steps}

    @cached_property
    def edges_into(self) -> dict[str, list[Edge]]:
        return _grouped(self.edges, "to")

    @cached_property
    def edges_out_of(self) -> dict[str, list[Edge]]:
        return _grouped(self.edges, "from_")

    @cached_property
    def in_order(self) -> tuple[Step, ...]:
        """The steps, each after all it reads from, otherwise as they were drawn."""
        return tuple(self.by_id[id_] for id_ in _sorted(self.steps, self.edges))

    @cached_property
    def _upstream(self) -> dict[str, frozenset[str]]:
        above: dict[str, frozenset[str]] = {}
        for step in self.in_order:
            parents = {edge.from_ for edge in self.edges_into.get(step.id, ())}
            above[step.id] = frozenset(parents.union(*(above[p] for p in parents)))
        return above

    def upstream(self, step: str) -> frozenset[str]:
        """The ids of all steps whose rows reach this one."""
        return self._upstream[step]

    def names(self, column: str) -> bool:
        """Whether a step's configuration has this column's name in it, in any of its texts."""
        return any(column in json.dumps(step.config).lower() for step in self.steps)

    def meaning(self) -> dict[str, Any]:
        """What the pipeline says, without where its steps stand on the canvas."""
        return self.model_dump(mode="json", by_alias=True, exclude={"canvas"}, exclude_none=True)

    def hash(self) -> str:
        """The same for two graphs that mean the same, wherever their steps stand."""
        text = json.dumps(self.meaning(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def read_graph(data: Any) -> Graph:
    """Read a graph from JSON values.

    Raises InvalidGraph where the shape is wrong: what can't even be kept as a draft. Missing
    or unsound configuration is left to `check`.
    """
    if not isinstance(data, dict):
        raise InvalidGraph([Problem(None, None, "A graph is an object with steps and edges.")])
    for field, most in (("steps", MAX_STEPS), ("edges", MAX_EDGES)):
        if isinstance(data.get(field), list) and len(data[field]) > most:
            message = f"A pipeline may have {most:,} {field}; this one has {len(data[field]):,}."
            raise InvalidGraph([Problem(None, field, message)])
    if data.get("version", 1) != 1 or isinstance(data.get("version"), bool):
        message = "This graph is of a newer version of Headrace; this one reads version 1."
        raise InvalidGraph([Problem(None, "version", message)])
    if problems := list(_unreadable(data)):
        raise InvalidGraph(problems)
    try:
        graph = Graph.model_validate(data)
    except ValidationError as error:
        raise InvalidGraph([_shape_problem(data, e) for e in error.errors()]) from None
    if problems := _structure_problems(graph):
        raise InvalidGraph(problems)
    return graph


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a graph's envelope; each step type's own is in the catalogue."""
    return Graph.model_json_schema(by_alias=True)


def _grouped(edges: tuple[Edge, ...], end: str) -> dict[str, list[Edge]]:
    groups: dict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        groups[getattr(edge, end)].append(edge)
    return dict(groups)


def _sorted(steps: tuple[Step, ...], edges: tuple[Edge, ...]) -> list[str]:
    sorter: TopologicalSorter[str] = TopologicalSorter({step.id: [] for step in steps})
    for edge in edges:
        sorter.add(edge.to, edge.from_)
    return list(sorter.static_order())


def _structure_problems(graph: Graph) -> list[Problem]:
    problems = []
    seen: set[str] = set()
    for step in graph.steps:
        if step.id in seen:
            problems.append(Problem(step.id, "id", f"Two steps are called {step.id}; rename one."))
        seen.add(step.id)
        if not _ID.fullmatch(step.id) or keyword.iskeyword(step.id) or step.id in _TAKEN:
            message = (
                f"{step.id[:70]!r} can't name a step: use a small letter, then up to 62 small "
                "letters, digits and underscores, and no word that Python keeps for itself."
            )
            problems.append(Problem(step.id[:70], "id", message))
        if step.type not in STEP_TYPES:
            hint = suggestion(step.type, list(STEP_TYPES))
            message = f"There is no step type {step.type[:70]}. {hint}".strip()
            problems.append(Problem(step.id, "type", message))
            continue
        problems += step.unknown_fields
    drawn: set[tuple[object, ...]] = set()
    for edge in graph.edges:
        for end, id_ in (("from", edge.from_), ("to", edge.to)):
            if id_ not in seen:
                other = edge.to if end == "from" else edge.from_
                message = f"An edge is drawn {end} {id_[:70]}, which is no step; remove the edge."
                problems.append(Problem(other if other in seen else None, "edges", message))
        if edge.from_ == edge.to:
            message = f"{edge.to} reads from itself; remove that edge."
            problems.append(Problem(edge.to, "edges", message))
        ends = (edge.from_, edge.to, edge.output, edge.port)
        if ends in drawn:
            message = f"The edge from {edge.from_} to {edge.to} is there twice; remove one."
            problems.append(Problem(edge.to, "edges", message))
        drawn.add(ends)
    if not problems:
        try:
            _sorted(graph.steps, graph.edges)
        except CycleError as error:
            around = list(dict.fromkeys(error.args[1]))
            message = (
                f"Rows would run in a circle: {' → '.join([*around, around[0]])}. Remove an edge."
            )
            problems += [Problem(step, "edges", message) for step in around]
    return problems


# Pydantic's name for a field that a model does not have.
_UNKNOWN_FIELD = "extra_forbidden"
# NUL, and halves of surrogate pairs.
_UNKEEPABLE = re.compile("[\0\ud800-\udfff]")


def _unreadable(data: Any) -> list[Problem]:
    """Values that JSON text can hold and nothing here can use."""
    stack: list[tuple[Any, int, str | None]] = [(data, 0, None)]
    while stack:
        value, depth, step = stack.pop()
        if depth > MAX_DEPTH:
            return [Problem(step, None, f"Values are nested more than {MAX_DEPTH} deep.")]
        if isinstance(value, dict):
            if depth == 2 and isinstance(value.get("id"), str):
                step = value["id"][:70]
            stack += [(v, depth + 1, step) for v in value.values()]
            stack += [(k, depth + 1, step) for k in value]
        elif isinstance(value, list):
            stack += [(v, depth + 1, step) for v in value]
        elif isinstance(value, float) and not math.isfinite(value):
            return [Problem(step, None, "A number is not finite; write an ordinary number.")]
        elif isinstance(value, str):
            if len(value) > MAX_TEXT:
                return [Problem(step, None, f"A text is longer than {MAX_TEXT:,} characters.")]
            if _UNKEEPABLE.search(value):
                message = (
                    "A text has a character that can't be kept (NUL or half a pair); remove it."
                )
                return [Problem(step, None, message)]
    return []


def _shape_problem(data: dict[str, Any], error: Any) -> Problem:
    """A problem of the envelope, on its step where it has one."""
    path = list(error["loc"])
    step = None
    if len(path) >= 2 and path[0] in ("steps", "edges") and isinstance(path[1], int):
        part = data[path[0]][path[1]]
        name = part.get("id" if path[0] == "steps" else "to") if isinstance(part, dict) else None
        step = name[:70] if isinstance(name, str) else None
        path = path[2:] or [path[0]]
    return Problem(step, _path(path), _sentence(error))


def _config_problem(step: str, error: Any) -> Problem:
    # Pydantic names the member of a union in parentheses; people see one field.
    path = [p for p in error["loc"] if not str(p).startswith("(")]
    return Problem(step, _path(path) or None, _sentence(error))


def _path(path: list[Any]) -> str:
    return ".".join(str(part)[:70] for part in path)


def _sentence(error: Any) -> str:
    """Pydantic's finding as a sentence that says what to do."""
    kind, context = error["type"], error.get("ctx", {})
    if kind == _UNKNOWN_FIELD:
        return f"There is no field {str(error['loc'][-1])[:70]} here; remove it."
    if kind == "missing":
        return "Fill this in."
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        return f"Choose {context['expected'].replace(chr(39), '')}."
    if kind in ("too_short", "string_too_short"):
        return "Fill this in."
    if kind in ("too_long", "string_too_long"):
        return f"This is too long; at most {context.get('max_length'):,}."
    if kind == "string_pattern_mismatch":
        return "Use a small letter, then small letters, digits, dashes and underscores."
    what = {
        "string_type": "a text",
        "int_type": "a whole number",
        "int_parsing": "a whole number",
        "int_from_float": "a whole number",
        "float_type": "a number",
        "bool_type": "true or false",
        "bool_parsing": "true or false",
        "list_type": "a list",
        "dict_type": "an object",
        "model_type": "an object",
        "model_attributes_type": "an object",
        "tuple_type": "a list",
    }.get(kind)
    return f"This must be {what}." if what else f"{error['msg'].rstrip('.')}."
