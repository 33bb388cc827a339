from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Query, Router
from pydantic import model_validator

from builder.connections.topics_api import RecordHeader
from builder.letters import actions
from builder.request import Request
from builder.schema import Body, Schema

router = Router(tags=["deployments"])

Encoding = Literal["text", "base64"]
StepId = Annotated[str, Field(max_length=63, pattern="^[a-z0-9_]+$")]
LetterId = Annotated[str, Field(max_length=300)]
Cursor = Annotated[str, Field(max_length=300_000)]


class OriginOut(Schema):
    topic: str
    partition: int
    offset: int


class ReplayOut(Schema):
    at: datetime
    user: str
    edited: bool
    topic: str
    partition: int | None
    offset: int | None = Field(description="null where nobody can say whether it arrived")


class LetterOut(Schema):
    id: str
    step: str
    at: datetime | None = Field(description="When it was put aside")
    error: str
    origin: OriginOut | None
    key: str | None
    key_encoding: Encoding = Field(description="base64 where the bytes are not UTF-8")
    value: str | None
    value_encoding: Encoding
    headers: list[RecordHeader] = Field(description="The record's own")
    size: int = Field(description="Bytes of key, value and headers")
    cut: bool = Field(description="Whether only the first bytes of a long part are here")
    masked: bool = Field(
        description="Whether values of columns are left out that nobody may see. Where an edited "
        "value has ••• in their place, they stay as they are"
    )
    replays: list[ReplayOut]


class Letters(Schema):
    items: list[LetterOut] = Field(description="Newest first")
    count: int = Field(description="How many there are in all, of the step where one is named")
    scanned: int = Field(description="How many were looked at, 20,000 at most")
    more: bool = Field(description="Whether there may be older ones that match")
    before: str | None


class LettersOf(Schema):
    step: StepId | None = None
    error: str | None = Field(None, max_length=1000, description="The whole reason")
    search: str = Field("", max_length=200, description="Text of key or value, any case")
    limit: int = Field(50, ge=1, le=200)
    before: Cursor | None = Field(None, description="Older ones: `before` of an earlier answer")
    letter: LetterId | None = Field(None, description="One letter by its id, whole")


class LetterIn(Body):
    id: LetterId
    key: str | None = Field(None, description="Left out, it stays as it is; null is none")
    value: str | None = Field(None, description="Left out, it stays as it is; null is none")
    encoding: Encoding = Field("text", description="Of the value")

    def wanted(self) -> actions.Wanted:
        """What the body asks for."""
        changes: dict[str, str | None] = self.model_dump(
            include={"key", "value"}, exclude_unset=True
        )
        return actions.Wanted(self.id, changes, self.encoding)


class ReplayIn(Body):
    letters: list[LetterIn] | None = Field(None, min_length=1, max_length=actions.MOST_LETTERS)
    again: bool = Field(False, description="Also those that were replayed before")
    all: bool = Field(False, description="All of `step` that were not replayed yet, 1,000 at once")
    step: StepId | None = None
    error: str | None = Field(None, max_length=1000, description="With `all`: of this reason only")
    after: Cursor | None = Field(None, description="With `all`: `after` of an earlier answer")

    @model_validator(mode="after")
    def _one_of_both(self) -> "ReplayIn":
        if self.all == (self.letters is not None):
            raise ValueError("Name letters, or ask for all of a step")
        if self.all and self.step is None:
            raise ValueError("Say of which step all are meant")
        return self


class ReplayedOut(Schema):
    id: str
    topic: str | None = Field(description="Where it stands now; null where it was not written")
    partition: int | None
    offset: int | None
    message: str = Field(description="Why it was not written, or may not have been")


class Replayed(Schema):
    replayed: int
    items: list[ReplayedOut]
    more: bool = Field(description="With `all`: whether there may be more to replay")
    after: str | None


@router.get(
    "/deployments/{uuid:deployment_id}/dead-letters", response=Letters, summary="List dead letters"
)
def list_dead_letters(request: Request, deployment_id: UUID, asked: Query[LettersOf]) -> Any:
    """Answer the newest records that steps could not read, with why and where they stood."""
    if asked.letter is not None:
        return actions.get_letter(request.auth, deployment_id, asked.letter)
    return actions.list_letters(request.auth, deployment_id, **asked.model_dump(exclude={"letter"}))


@router.post(
    "/deployments/{uuid:deployment_id}/dead-letters/replay",
    response=Replayed,
    summary="Replay dead letters",
)
def replay_dead_letters(request: Request, deployment_id: UUID, body: ReplayIn) -> Any:
    """Write dead letters to the topics that they came from, as they are or edited.

    Named letters are all written or, where one can't be, none. Each record carries the headers
    `headrace.replayed`, where it stood, and `headrace.id`, the same whenever it is written again.
    """
    if body.letters is None:
        return actions.replay_all(
            request.auth, deployment_id, body.step or "", body.error, body.after
        )
    wanted = [letter.wanted() for letter in body.letters]
    return actions.replay_letters(request.auth, deployment_id, wanted, body.again)
