import contextlib
import logging
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q

from builder.connections.models import connections_for_runner
from builder.local.java import java_home
from builder.pipelines.actions import try_test_cases
from builder.pipelines.junit import junit as as_junit
from builder.pipelines.models import Pipeline, TestCase
from builder.pipelines.run_test_case import Outcome
from builder.pipelines.tasks import rehearse, warm

Json = dict[str, Any]
# How long one may take. Nobody waits for it in a browser.
SECONDS = 120.0
NOT_RUN = 2


class Command(BaseCommand):
    """Run a pipeline's test cases in this process, with a Spark of its own: for CI."""

    help = (
        "Run the test cases of a pipeline's draft. Exits with 1 where one fails, and with 2 "
        "where they can't be run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pipeline", help="its slug or id")
        parser.add_argument(
            "--case", action="append", metavar="NAME", help="only this one; may be repeated"
        )
        parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit's XML, too")

    def handle(
        self,
        *args: Any,
        pipeline: str,
        case: list[str] | None = None,
        junit: Path | None = None,
        **options: Any,
    ) -> None:
        found = _pipeline(pipeline)
        outcomes = []
        cases = _cases(found, case)
        if junit is not None:
            _refuse_unwritable(junit)
        if cases:
            _start_spark()
        for outcome in try_test_cases(cases, found.graph, _rehearse):
            outcomes.append(outcome)
            self._tell(outcome)
        if junit is not None:
            junit.write_text(as_junit(found.slug, outcomes), encoding="utf-8")
        failed = sum(not outcome.passed for outcome in outcomes)
        self.stdout.write(f"{len(outcomes) - failed} passed, {failed} failed")
        if failed:
            sys.exit(1)

    def _tell(self, outcome: Outcome) -> None:
        verdict = "passed" if outcome.passed else "failed"
        self.stdout.write(f"{verdict}  {outcome.name}  ({outcome.seconds:.1f} s)")
        if not outcome.passed:
            for line in outcome.as_text().splitlines():
                self.stdout.write(f"        {line}")
        self.stdout.flush()


def _pipeline(text: str) -> Pipeline:
    wanted = Q(slug=text)
    with contextlib.suppress(ValueError):
        wanted |= Q(pk=UUID(text))
    found = Pipeline.objects.filter(wanted).first()
    if found is None:
        raise CommandError(f"There is no pipeline {text}.", returncode=NOT_RUN)
    return found


def _cases(pipeline: Pipeline, names: list[str] | None) -> list[TestCase]:
    cases = pipeline.test_cases.all()
    if names is None:
        return list(cases)
    found = list(cases.filter(name__in=names))
    if missing := set(names) - {case.name for case in found}:
        message = f"{pipeline.slug} has no test case {', '.join(sorted(missing))}."
        raise CommandError(message, returncode=NOT_RUN)
    return found


def _start_spark() -> None:
    """Start it before the first case, whose time it is not."""
    try:
        os.environ["JAVA_HOME"] = str(java_home())
    except FileNotFoundError as error:
        raise CommandError(str(error), returncode=NOT_RUN) from None
    # Each call of a function in Python is news to it.
    logging.getLogger("py4j").setLevel(logging.WARNING)
    warm()


def _rehearse(graph: Json, rows: dict[str, list[Json]]) -> Json:
    """What the spark worker would answer, from a Spark in this process."""
    answer: Json = rehearse(graph, rows, connections_for_runner(), SECONDS)
    return answer


def _refuse_unwritable(file: Path) -> None:
    try:
        file.open("a").close()
    except OSError as error:
        message = f"{file} can't be written: {error.strerror}."
        raise CommandError(message, returncode=NOT_RUN) from None
