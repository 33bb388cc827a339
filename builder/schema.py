"""What request bodies and answers are made of."""

from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Field
from ninja import Schema as NinjaSchema
from pydantic import AfterValidator, ConfigDict


class Schema(NinjaSchema):
    """A part of an answer."""


class Body(NinjaSchema):
    """A request body: a field it does not know is refused, never ignored."""

    model_config = ConfigDict(extra="forbid")


def _visible_name(text: str) -> str:
    text = " ".join(text.split())
    if not text or (not text.isprintable() and any(ord(c) < 32 for c in text)):
        raise ValueError("Write a name of visible characters")
    return text


Name = Annotated[str, Field(max_length=200), AfterValidator(_visible_name)]
# A folder of pipelines is no more than its name; empty for none.
FolderName = Annotated[
    str, Field(max_length=100), AfterValidator(lambda text: text and _visible_name(text))
]
Json = dict[str, Any]


class ProblemOut(Schema):
    step: str | None
    field: str | None
    severity: str
    message: str


class Segment(Schema):
    id: str
    mode: Literal["real_time", "micro_batch"]
    reason: str
    steps: list[str]


class ActivityOut(Schema):
    at: datetime
    user: str | None
    verb: str
    message: str
    via: Literal["session", "token", "admin", "headrace"] = Field(
        "headrace", description="In the browser, by a token, in the admin, or Headrace itself"
    )
    address: str | None = Field(None, description="The address that it was asked from")
