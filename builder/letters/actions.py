"""Dead letters as people see them, and their replay: every write to a topic again."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from builder.access.activity import record
from builder.access.permissions import require, visible_or_404
from builder.connections import kafka
from builder.connections.records import (
    Place,
    as_bytes,
    cursor,
    oldest,
    records_at,
    spans_of,
    within,
)
from builder.connections.write_records import Outgoing, Written, most_bytes, write_records
from builder.deployments.models import Deployment
from builder.environments.models import masks_of
from builder.letters.boxes import Box, away, boxes_of, cursor_of, newest_letters
from builder.letters.letter import Letter, Origin, fingerprint, read_id
from builder.letters.models import Replay
from builder.refused import Refused, unsound
from runner.mask import INSTEAD, NotKnown, unmasked
from runner.problems import Problem

Json = dict[str, Any]

# Of one request: letters, and bytes of all of them together.
MOST_LETTERS = 1_000
MOST_BYTES = 32 * 1024**2
# How many portions a request for all letters looks through for one to replay.
_PORTIONS = 20
# Headers of a replayed record: where it stood, and what names it whenever it is written again.
_REPLAYED, _ID = "headrace.replayed", "headrace.id"


@dataclass(frozen=True)
class Wanted:
    """A letter to replay. `changes` has `key` and `value` where they shall be others."""

    id: str
    changes: Mapping[str, str | None] = field(default_factory=dict)
    encoding: str = "text"


@dataclass(frozen=True)
class _Send:
    """A letter, the record that is written for it, and its number in the request."""

    number: int
    letter: Letter
    origin: Origin
    outgoing: Outgoing
    edited: bool


def list_letters(
    user: User,
    deployment_id: UUID,
    *,
    step: str | None = None,
    error: str | None = None,
    search: str = "",
    limit: int = 50,
    before: str | None = None,
) -> Json:
    """The newest dead letters of a deployment or of one of its steps, with their replays."""
    deployment = _deployment(user, deployment_id)
    masks = masks_of(deployment.environment)

    def is_wanted(letter: Letter) -> bool:
        return error in (None, letter.error) and letter.record.mentions(search, masks)

    page = newest_letters(boxes_of(deployment, step), limit, before, is_wanted)
    return {
        "items": _described(deployment, page.letters),
        "count": page.count,
        "scanned": page.found.scanned,
        "more": page.found.more,
        "before": page.found.before if page.found.more else None,
    }


def get_letter(user: User, deployment_id: UUID, letter_id: str) -> Json:
    """One dead letter, whole, as a list of one; of none where it is not there any more."""
    deployment = _deployment(user, deployment_id)
    found = _fetch(boxes_of(deployment), [letter_id])
    items = _described(deployment, list(found.values()), whole=True)
    return {
        "items": items,
        "count": len(items),
        "scanned": len(items),
        "more": False,
        "before": None,
    }


def replay_letters(
    user: User, deployment_id: UUID, wanted: Sequence[Wanted], again: bool = False
) -> Json:
    """Write these letters to the topics that they came from; what became of each.

    Raises Refused, and writes none: 422 with each letter that can't be replayed as it is, 409
    where a topic is gone or, unless `again`, one was replayed before, 503 where Kafka is away.
    """
    deployment = _deployment(user, deployment_id)
    require(user, "replay dead letters of", deployment)
    boxes = boxes_of(deployment)
    problems = [
        Problem(None, f"letters.{n}.id", "It is named twice.")
        for n, one in enumerate(wanted)
        if one.id in {other.id for other in wanted[:n]}
    ]
    if problems:
        raise unsound(problems, "The request")
    found = _fetch(boxes, [one.id for one in wanted])
    sends, problems = [], []
    for number, one in enumerate(wanted):
        letter = found.get(one.id)
        try:
            sends.append(_send(deployment, number, letter, one))
        except ValueError as error:
            name, message = error.args
            problems.append(Problem(None, f"letters.{number}.{name}", message))
    if problems:
        raise unsound(problems, "The request")
    fresh, repeats = _once(sends)
    known = _replays(deployment, [send.letter for send in fresh])
    if not again:
        _refuse_replayed(fresh, known)
    items = _replay(user, deployment, boxes, fresh, known)
    skipped = [
        {**_said(send, Written()), "message": "It is the same record as another one of these."}
        for send in repeats
    ]
    return _answer(items + skipped)


def replay_all(
    user: User, deployment_id: UUID, step: str, error: str | None = None, after: str | None = None
) -> Json:
    """Write the letters of a step, or those with this reason, that were not replayed yet.

    Oldest first, MOST_LETTERS at once; the answer's `after` goes on where it ended. Refused as
    `replay_letters` is.
    """
    deployment = _deployment(user, deployment_id)
    require(user, "replay dead letters of", deployment)
    (box,) = boxes_of(deployment, step)
    places = cursor_of(after)
    letters: dict[str, Letter] = {}
    with away(box.connection):
        left = within(spans_of(box.connection, box.steps), after=places)
        for _ in range(_PORTIONS):
            if letters or all(span.begin == span.end for span in left.values()):
                break
            portion = oldest(box.connection, left, MOST_LETTERS)
            left = portion.left
            some = [box.letter(record) for record in portion.records]
            some = [one for one in some if error is None or one.error == error]
            replayed = _replays(deployment, some)
            letters = {
                one.fingerprint: one
                for one in some
                if one.origin and one.fingerprint not in replayed
            }
    sends = []
    skipped = []
    for number, letter in enumerate(letters.values()):
        try:
            sends.append(_send(deployment, number, letter, Wanted(letter.id)))
        except ValueError as trouble:
            said = {"id": letter.id, "topic": None, "partition": None, "offset": None}
            skipped.append({**said, "message": str(trouble.args[1])})
    items = _replay(user, deployment, [box], sends, {})
    more = any(span.begin < span.end for span in left.values())
    ends = cursor({place: span.begin for place, span in left.items()})
    return {**_answer(items + skipped), "more": more, "after": ends if more else None}


def _deployment(user: User, deployment_id: UUID) -> Deployment:
    rows = Deployment.objects.select_related("pipeline")
    return visible_or_404(user, rows, pk=deployment_id)


def _described(deployment: Deployment, letters: list[Letter], whole: bool = False) -> list[Json]:
    replays = _replays(deployment, letters)
    masks = masks_of(deployment.environment)
    return [
        {
            **letter.as_json(whole, masks),
            "replays": [_as_json(replay) for replay in replays.get(letter.fingerprint, [])],
        }
        for letter in letters
    ]


def _replays(deployment: Deployment, letters: Iterable[Letter]) -> dict[str, list[Replay]]:
    """How often the letters were replayed, by their records."""
    found: dict[str, list[Replay]] = defaultdict(list)
    records = [letter.fingerprint for letter in letters]
    for replay in deployment.replays.filter(record__in=records):
        found[replay.record].append(replay)
    return found


def _as_json(replay: Replay) -> Json:
    return {
        "at": replay.at,
        "user": replay.username,
        "edited": replay.edited,
        "topic": replay.topic,
        "partition": replay.partition,
        "offset": replay.offset,
    }


def _fetch(boxes: list[Box], ids: Iterable[str]) -> dict[str, Letter]:
    """The letters with these ids, those that are there."""
    asked: dict[Place, list[int]] = defaultdict(list)
    for id_ in ids:
        try:
            place, offset = read_id(id_)
        except ValueError:
            continue
        asked[place].append(offset)
    found: dict[str, Letter] = {}
    for box in boxes:
        topics = [topic for topic in box.steps if any(place.topic == topic for place in asked)]
        if not topics:
            continue
        with away(box.connection):
            there = spans_of(box.connection, topics)
            wanted = {
                place: [n for n in asked[place] if span.begin <= n < span.end]
                for place, span in there.items()
                if place in asked
            }
            letters = [box.letter(record) for record in records_at(box.connection, wanted)]
        found |= {letter.id: letter for letter in letters}
    if sum(letter.record.size for letter in found.values()) > MOST_BYTES:
        raise Refused(413, f"Together they are larger than {MOST_BYTES // 1024**2} MB; take fewer.")
    return found


def _send(deployment: Deployment, number: int, letter: Letter | None, wanted: Wanted) -> _Send:
    """The record to write for a letter. Raises ValueError with a field and why it can't be."""
    if letter is None:
        raise ValueError("id", "There is no such dead letter, or none any more.")
    origin = letter.origin
    if origin is None:
        raise ValueError("id", "It does not say where it came from, so it can't go back there.")
    # Whoever can write to the topic of dead letters could name any topic there.
    if not _reads(deployment, letter.step, origin.topic):
        raise ValueError("id", f"{letter.step} does not read {origin.topic}, where it came from.")
    sent = {"key": letter.record.key, "value": letter.record.value}
    masks = masks_of(deployment.environment)
    for name, text in wanted.changes.items():
        encoding = wanted.encoding if name == "value" else "text"
        sent[name] = _changed(name, text, encoding, sent[name], masks)
    edited = sent != {"key": letter.record.key, "value": letter.record.value}
    same_key = sent["key"] == letter.record.key
    outgoing = Outgoing(
        origin.topic,
        sent["key"],
        sent["value"],
        _headers(letter, origin, sent, edited),
        # Beside the other records of its key, whoever wrote them.
        origin.partition if same_key else None,
    )
    return _Send(number, letter, origin, outgoing, edited)


def _changed(
    name: str, text: str | None, encoding: str, before: bytes | None, masks: Sequence[str]
) -> bytes | None:
    """What somebody wants in place of a key or value, with what was masked as it was."""
    try:
        wanted = as_bytes(text, encoding)
    except ValueError:
        raise ValueError(name, "It is no base64.") from None
    if text is None or encoding != "text" or INSTEAD not in text or not masks:
        return wanted
    try:
        whole = unmasked(json.loads(text), json.loads(before or b"null"), masks)
    except NotKnown as error:
        raise ValueError(name, f"{error} is masked, so its value must be written anew.") from None
    except (ValueError, RecursionError):
        message = f"Values that are masked ({INSTEAD}) must be written anew, or all left as it is."
        raise ValueError(name, message) from None
    return json.dumps(whole, ensure_ascii=False).encode()


def _headers(
    letter: Letter, origin: Origin, sent: Mapping[str, bytes | None], edited: bool
) -> tuple[tuple[str, bytes | None], ...]:
    """The record's own headers, and those by which readers know a replay and drop repeats."""
    kept = [h for h in letter.headers if h[0] != _REPLAYED and not (edited and h[0] == _ID)]
    if not any(name == _ID for name, _ in kept):
        named = {
            "_topic": origin.topic,
            "_partition": origin.partition,
            "_offset": origin.offset,
            "_replayed": fingerprint(sent["key"], sent["value"])[:16],
        }
        kept.append((_ID, json.dumps(named, separators=(",", ":")).encode()))
    return (*kept, (_REPLAYED, str(origin).encode()))


def _reads(deployment: Deployment, step: str, topic: str) -> bool:
    """Whether a step of a deployment reads a topic."""
    mine = [t for t in deployment.topics if t["step"] == step and t["use"] == "read"]
    return any(
        re.fullmatch(about["pattern"], topic) if "pattern" in about else about["topic"] == topic
        for about in mine
    )


def _once(sends: list[_Send]) -> tuple[list[_Send], list[_Send]]:
    """The first letter of each record, and the others, which a crash left there."""
    firsts: dict[str, _Send] = {}
    for send in sends:
        firsts.setdefault(send.letter.fingerprint, send)
    return list(firsts.values()), [s for s in sends if firsts[s.letter.fingerprint] is not s]


def _refuse_replayed(sends: list[_Send], known: Mapping[str, list[Replay]]) -> None:
    done = [send for send in sends if send.letter.fingerprint in known]
    if not done:
        return
    send = done[0]
    last = known[send.letter.fingerprint][-1]
    others = f", and {len(done) - 1} others of these" if len(done) > 1 else ""
    raise Refused(
        409,
        f"What stood at {send.origin} was already replayed at {last.at:%Y-%m-%d %H:%M:%S} UTC by "
        f"{last.username}{others}. Ask for it again if it shall be written once more.",
    )


def _replay(
    user: User,
    deployment: Deployment,
    boxes: list[Box],
    sends: list[_Send],
    known: Mapping[str, list[Replay]],
) -> list[Json]:
    """Write the records in the order in which they first stood; what became of each.

    `known` are the replays of these letters that the user knows of.
    """
    sends = sorted(sends, key=lambda s: (s.origin.topic, s.origin.partition, s.origin.offset))
    by_box = [
        (box, [send for send in sends if send.letter.record.place.topic in box.steps])
        for box in boxes
    ]
    checked = [(box, _sendable(box, mine)) for box, mine in by_box if mine]
    replays = _note(user, deployment, sends, known)
    items: list[Json] = []
    written: list[_Send] = []
    try:
        for box, mine in checked:
            with away(box.connection):
                became = write_records(box.connection, [send.outgoing for send in mine])
            for send, result in zip(mine, became, strict=True):
                if _keep(replays.pop(send.letter.fingerprint), result):
                    written.append(send)
                items.append(_said(send, result))
    finally:
        # What nobody has tried to write was not replayed.
        Replay.objects.filter(pk__in=[replay.pk for replay in replays.values()]).delete()
        if written:
            record(user, "replay", deployment, _sentence(user, deployment, written))
    return items


def _sendable(box: Box, sends: list[_Send]) -> list[_Send]:
    """The same, with partitions that are there. Raises Refused for a topic that is gone (409)
    and for records that are too large (422)."""
    with away(box.connection):
        partitions = kafka.topic_partitions(box.connection)
        limits: dict[str, int] = {}
        for topic in {send.origin.topic for send in sends}:
            if topic not in partitions:
                raise Refused(
                    409, f"The topic {topic} is not there any more. Make it, and replay them then."
                )
            limits[topic] = most_bytes(box.connection, topic)
    problems = [
        Problem(
            None,
            f"letters.{send.number}.value",
            f"It is larger than {send.origin.topic} takes, which is {limits[send.origin.topic]} "
            "bytes with key and headers.",
        )
        for send in sends
        if send.outgoing.size > limits[send.origin.topic]
    ]
    if problems:
        raise unsound(problems, "The request")
    return [_placed(send, partitions[send.origin.topic]) for send in sends]


def _placed(send: _Send, partitions: int) -> _Send:
    """The same; where its topic was made anew with fewer partitions, its key says which."""
    out = send.outgoing
    if out.partition is None or out.partition < partitions:
        return send
    anywhere = Outgoing(out.topic, out.key, out.value, out.headers)
    return _Send(send.number, send.letter, send.origin, anywhere, send.edited)


def _note(
    user: User, deployment: Deployment, sends: list[_Send], known: Mapping[str, list[Replay]]
) -> dict[str, Replay]:
    """Note that the letters are replayed, before they are; by their records.

    Raises Refused (409) where there is a replay that was not known: somebody was quicker.
    """
    replays = [
        Replay(
            deployment=deployment,
            step=send.letter.step,
            letter=send.letter.id,
            record=send.letter.fingerprint,
            attempt=max((r.attempt for r in known.get(send.letter.fingerprint, [])), default=0) + 1,
            edited=send.edited,
            topic=send.origin.topic,
            user=user,
            username=user.get_username(),
        )
        for send in sends
    ]
    try:
        with transaction.atomic():
            Replay.objects.bulk_create(replays)
    except IntegrityError:
        raise Refused(409, "Somebody else replays some of these just now; look again.") from None
    return {replay.record: replay for replay in replays}


def _keep(replay: Replay, result: Written) -> bool:
    """Note what became of a letter; whether it may have been written."""
    if result.trouble and not result.is_unsure:
        replay.delete()
        return False
    if not result.trouble:
        replay.partition, replay.offset = result.partition, result.offset
        replay.save(update_fields=["partition", "offset"])
    return True


def _said(send: _Send, result: Written) -> Json:
    arrived = result.offset >= 0
    return {
        "id": send.letter.id,
        "topic": send.origin.topic if arrived else None,
        "partition": result.partition if arrived else None,
        "offset": result.offset if arrived else None,
        "message": result.trouble,
    }


def _answer(items: list[Json]) -> Json:
    replayed = sum(item["offset"] is not None for item in items)
    return {"replayed": replayed, "items": items, "more": False, "after": None}


def _sentence(user: User, deployment: Deployment, written: list[_Send]) -> str:
    """What was replayed, in words; never what is in it."""
    count, edited = len(written), sum(send.edited for send in written)
    steps = ", ".join(sorted({send.letter.step for send in written}))
    topics = ", ".join(sorted({send.origin.topic for send in written}))
    letters = "a dead letter" if count == 1 else f"{count} dead letters"
    how = "" if not edited else ", edited" if count == 1 else f", {edited} of them edited"
    return f"{user} replayed {letters} of {steps} in {deployment} to {topics}{how}"
