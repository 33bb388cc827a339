"""A test case run on a graph: its rows rehearsed, and what came out held against what should."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from builder.pipelines.models import TestCase
from runner.problems import Problem
from runner.row_diff import ComparedRow, as_text, is_same, row_diff

Json = dict[str, Any]
# Answers what the task `rehearse` does.
Rehearse = Callable[[Json, dict[str, list[Json]]], Json]


@dataclass(frozen=True)
class Outcome:
    """What came of a test case: the compared rows of each step it expects rows of."""

    id: str
    name: str
    seconds: float
    problems: list[Json] = field(default_factory=list)
    steps: dict[str, list[ComparedRow]] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        is_sound = all(problem["severity"] != "error" for problem in self.problems)
        return is_sound and all(map(is_same, self.steps.values()))

    def as_json(self) -> Json:
        return {
            "id": self.id,
            "name": self.name,
            "passed": self.passed,
            "seconds": round(self.seconds, 3),
            "problems": self.problems,
            "steps": {
                step: {"passed": is_same(rows), "rows": [row.as_json() for row in rows]}
                for step, rows in self.steps.items()
            },
        }

    def as_text(self) -> str:
        """Why it failed: each problem, and the differences of each step."""
        parts = [f"{p['step'] or 'pipeline'}: {p['message']}" for p in self.problems]
        parts += [
            f"{step}: {as_text(rows)}" for step, rows in self.steps.items() if not is_same(rows)
        ]
        return "\n".join(parts)


def run_test_case(case: TestCase, graph: Json, rehearse: Rehearse) -> Outcome:
    """Run a test case on a graph. One that is not sound makes it fail, with the problems."""
    begun = time.monotonic()
    answer = rehearse(graph, case.rows)
    seconds = time.monotonic() - begun
    if "unsound" in answer:
        return Outcome(str(case.pk), case.name, seconds, answer["unsound"])
    problems, steps = list(answer["problems"]), {}
    for step, expected in case.expected.items():
        came = answer["steps"].get(step)
        found = came["rows"] if came else []
        if came is None:
            message = f"Rows are expected of {step}, but no rows of such a step are known."
            problems.append(Problem(None, "expected", message).as_json())
        elif came["count"] > len(found):
            message = (
                f"{came['count']:,} rows came out and only the first {len(found):,} can be "
                "compared; give the test case fewer rows."
            )
            problems.append(Problem(step, "expected", message).as_json())
        steps[step] = row_diff(expected, found)
    return Outcome(str(case.pk), case.name, seconds, problems, steps)
