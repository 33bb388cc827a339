"""What is wrong with a graph, in sentences for the person who drew it."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Problem:
    """One thing to mend, and where on the canvas to mend it.

    `step` and `field` are None where the whole graph, or the whole step, is meant. A field
    inside a list is a path: `columns.0.type`. A warning does not keep a graph from running.
    """

    step: str | None
    field: str | None
    message: str
    severity: Severity = "error"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class InvalidGraph(Exception):
    """The graph can't be read or compiled; `problems` holds every reason, not the first."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(f"{p.step or 'graph'}: {p.message}" for p in problems))
        self.problems = problems
