"""The dead-letter topics of a deployment, and what stands in them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from builder.connections import kafka
from builder.connections.models import Connection
from builder.connections.records import (
    Found,
    Place,
    Span,
    TopicRecord,
    newest,
    read_cursor,
    spans_of,
    within,
)
from builder.deployments.models import Deployment
from builder.environments.models import rows_in
from builder.letters.letter import Letter
from builder.refused import Refused, unsound
from runner.problems import Problem


@dataclass(frozen=True)
class Box:
    """The dead-letter topics of a deployment in one cluster: the step of each topic."""

    connection: Connection
    steps: Mapping[str, str]

    def letter(self, record: TopicRecord) -> Letter:
        """The letter that a record of one of these topics is."""
        return Letter(record, self.steps[record.place.topic])


@dataclass(frozen=True)
class Page:
    """Letters, newest first. `count` is how many there are, whatever is asked of them."""

    letters: list[Letter]
    count: int
    found: Found


def boxes_of(deployment: Deployment, step: str | None = None) -> list[Box]:
    """The dead-letter topics of a deployment, or of one of its steps.

    Raises Refused: 422 for a step without any, 409 where a connection is gone.
    """
    topics = [t for t in deployment.topics if t["use"] == "dead_letters"]
    if step is not None and step not in {t["step"] for t in topics}:
        others = ", ".join(t["step"] for t in topics) or "none"
        message = f"{step} puts no bad records aside. Steps that do: {others}."
        raise unsound([Problem(None, "step", message)], "The request")
    rows = rows_in(deployment.environment) if topics else {}
    steps: dict[str, dict[str, str]] = {}
    for topic in topics:
        if step in (None, topic["step"]):
            steps.setdefault(topic["connection"], {})[topic["topic"]] = topic["step"]
    if gone := [name for name in steps if name not in rows]:
        raise Refused(409, f"There is no connection {gone[0]} any more, which {deployment} names.")
    return [Box(rows[name], of) for name, of in steps.items()]


def newest_letters(
    boxes: list[Box], limit: int, before: str | None, wanted: Callable[[Letter], bool]
) -> Page:
    """The newest letters that are wanted, before a cursor; none where no topic is there yet.

    Raises Refused: 422 for a cursor of something else, 503 where Kafka is away.
    """
    places = cursor_of(before)
    letters: list[Letter] = []
    left: dict[Place, Span] = {}
    count = scanned = 0
    for box in boxes:
        with away(box.connection):
            spans = spans_of(box.connection, box.steps)
            found = newest(
                box.connection,
                within(spans, before=places),
                limit,
                partial(_is_wanted, box, wanted),
            )
        count += sum(span.end - span.begin for span in spans.values())
        scanned += found.scanned
        left |= found.left
        letters += [box.letter(record) for record in found.records]
    letters.sort(key=lambda letter: letter.record.milliseconds or 0, reverse=True)
    # Of several clusters: those that the next page begins with.
    for record in (letter.record for letter in letters[limit:]):
        span = left[record.place]
        left[record.place] = Span(span.begin, max(span.end, record.offset + 1))
    return Page(letters[:limit], count, Found([], scanned, left))


def _is_wanted(box: Box, wanted: Callable[[Letter], bool], record: TopicRecord) -> bool:
    return wanted(box.letter(record))


def cursor_of(text: str | None) -> dict[Place, int]:
    """What a cursor of an earlier answer says. Raises Refused (422)."""
    try:
        return read_cursor(text or "")
    except ValueError:
        message = "Give what an earlier answer said here."
        raise unsound([Problem(None, "before", message)], "The request") from None


@contextmanager
def away(connection: Connection) -> Iterator[Any]:
    """Turn a cluster that does not answer into a refusal (503)."""
    try:
        yield
    except kafka.Unreachable as error:
        detail = f"The connection {connection.name} does not answer. {error} Try again in a moment."
        raise Refused(503, detail) from None
