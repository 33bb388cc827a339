"""The kinds of values that steps are configured with, each with the widget that edits it."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from runner import sql

_UNITS = "milliseconds?|seconds?|minutes?|hours?|days?|weeks?"
_DURATION = re.compile(rf"\s*\d{{1,9}}\s+({_UNITS})(\s+\d{{1,9}}\s+({_UNITS}))*\s*", re.IGNORECASE)
_MILLISECONDS = {
    "millisecond": 1,
    "second": 1_000,
    "minute": 60_000,
    "hour": 3_600_000,
    "day": 86_400_000,
    "week": 604_800_000,
}


def milliseconds(duration: str) -> int:
    """How many milliseconds a duration such as `1 minute 30 seconds` is."""
    words = duration.lower().split()
    return sum(
        int(n) * _MILLISECONDS[unit.removesuffix("s")]
        for n, unit in zip(words[::2], words[1::2], strict=True)
    )


def _expression(text: str) -> str:
    sql.read(text)
    return text


def _type(text: str) -> str:
    return sql.read_type(text)


def _duration(text: str) -> str:
    if not _DURATION.fullmatch(text):
        raise ValueError(f"{text[:40]} is no duration; write it as 10 seconds or 5 minutes.")
    return " ".join(text.lower().split())


def _positive(text: str) -> str:
    if milliseconds(text) == 0:
        raise ValueError("The duration must be longer than nothing.")
    return text


def _topic(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,249}", text) or text in (".", ".."):
        raise ValueError(
            f"{text[:60]!r} is no name of a topic; use letters, digits, dots, dashes, underscores."
        )
    return text


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"This is no regular expression: {error}.") from None
    return text


def _name(text: str) -> str:
    if not text.strip() or any(ord(c) < 32 or 0xD800 <= ord(c) < 0xE000 for c in text):
        raise ValueError("Write a name of visible characters.")
    return text


def _hint(widget: str, **more: Any) -> Any:
    return Field(json_schema_extra={"format": widget, **more})


Expression = Annotated[str, AfterValidator(_expression), _hint("expression")]
ColumnName = Annotated[str, StringConstraints(max_length=128), AfterValidator(_name)]
ColumnRef = Annotated[ColumnName, _hint("column")]
SparkType = Annotated[
    str, StringConstraints(max_length=2000), AfterValidator(_type), _hint("column-type")
]
Duration = Annotated[str, AfterValidator(_duration), _hint("duration")]
PositiveDuration = Annotated[
    str, AfterValidator(_duration), AfterValidator(_positive), _hint("duration")
]
Topic = Annotated[str, AfterValidator(_topic), _hint("topic")]
TopicPattern = Annotated[str, StringConstraints(max_length=249), AfterValidator(_pattern)]
ConnectionName = Annotated[
    str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,62}$"), _hint("connection")
]


class Config(BaseModel):
    """A part of a step's configuration: closed, and never changed once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=False)


class TypedColumn(Config):
    """A column of incoming records and its Spark type."""

    name: ColumnName = Field(title="Name")
    type: SparkType = Field("string", title="Type")


class NamedExpression(Config):
    """A column and the expression it is worth."""

    name: ColumnName = Field(title="Name")
    expression: Expression = Field(title="Expression")
