"""A dead letter: a record that a step could not read, as it stands in its topic."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from builder.connections.records import Headers, Place, TopicRecord

# What the job notes of a record that it puts aside.
_NOTED = (
    "headrace.step",
    "headrace.topic",
    "headrace.partition",
    "headrace.offset",
    "headrace.error",
)


@dataclass(frozen=True)
class Origin:
    """Where the record stood that could not be read."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}-{self.offset}"


@dataclass(frozen=True)
class Letter:
    """A record of a dead-letter topic, and the step that could not read it."""

    record: TopicRecord
    step: str

    @property
    def id(self) -> str:
        """Names it: topic, partition and offset of the dead-letter topic."""
        place = self.record.place
        return f"{place.topic}-{place.partition}-{self.record.offset}"

    @property
    def error(self) -> str:
        """Why it could not be read, as a sentence."""
        return self._noted.get("headrace.error", "")

    @cached_property
    def origin(self) -> Origin | None:
        """Where it stood; None where the letter does not say, so that nobody can replay it."""
        noted = self._noted
        try:
            return Origin(
                noted["headrace.topic"],
                int(noted["headrace.partition"]),
                int(noted["headrace.offset"]),
            )
        except (KeyError, ValueError):
            return None

    @property
    def headers(self) -> Headers:
        """The headers that the record itself had."""
        return tuple(h for h in self.record.headers if h[0] not in _NOTED)

    @property
    def fingerprint(self) -> str:
        """The same for every letter of the same record, also where a crash left it twice."""
        return fingerprint(str(self.origin), self.record.key, self.record.value)

    @cached_property
    def _noted(self) -> dict[str, str]:
        return {
            name: (value or b"").decode(errors="replace")
            for name, value in self.record.headers
            if name in _NOTED
        }

    def as_json(self, whole: bool = False, masks: Sequence[str] = ()) -> dict[str, Any]:
        """The letter for people and programs, without the values of masked columns.

        Unless `whole`, long parts are cut.
        """
        said = self.record.as_json(whole, masks)
        noted = [h for h in said["headers"] if h["name"] not in _NOTED]
        origin = self.origin
        return {
            **said,
            "headers": noted,
            "id": self.id,
            "step": self.step,
            "error": self.error,
            "origin": origin
            and {"topic": origin.topic, "partition": origin.partition, "offset": origin.offset},
        }


def fingerprint(*parts: str | bytes | None) -> str:
    """A hash of texts and bytes, of None as of nothing else."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(b"-" if data is None else b"%d:%b" % (len(data), data))
    return digest.hexdigest()


def read_id(text: str) -> tuple[Place, int]:
    """The place and offset that a letter's id names. Raises ValueError."""
    topic, partition, offset = text.rsplit("-", 2)
    return Place(topic, int(partition)), int(offset)
