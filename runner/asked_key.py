"""A key as people ask for it, read by the types of a table's key."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from runner import sql

WINDOW = "window"
_WHOLE = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}


@dataclass
class AskedKey:
    """What the key's columns must be: `equal` by path, type and text; `prefix` by path."""

    equal: list[tuple[str, str, str | None]] = field(default_factory=list)
    prefix: tuple[str, str] | None = None


class NoSuchKey(ValueError):
    """No row can have such a key; the message says what the key's columns are."""


def asked_key(
    text: str | None, prefix: str | None, key: list[str], types: Mapping[str, str]
) -> AskedKey:
    """Read a key: the plain value of a key of one column, or a JSON object of some of its columns.

    `types` are Spark's, by column. A prefix is of the first column that is no window. Raises
    NoSuchKey.
    """
    asked = AskedKey()
    names = [name for name in key if name != WINDOW]
    if text is not None:
        for name, value in _values(text, key, names, types).items():
            asked.equal += _equal(name, types[name], value)
    if prefix is not None:
        if not names:
            raise NoSuchKey("This table has one row, or one for each window; leave prefix out.")
        if types[names[0]] != "string":
            raise NoSuchKey(
                f"{names[0]} is {_article(types[names[0]])}; only text has a prefix. Ask by key."
            )
        asked.prefix = sql.quoted(names[0]), prefix
    return asked


def _values(
    text: str, key: list[str], names: list[str], types: Mapping[str, str]
) -> dict[str, Any]:
    """What is asked of each column."""
    if not key:
        raise NoSuchKey("This table has one row and no key; leave key out.")
    try:
        read = json.loads(text)
    except ValueError:
        read = None
    if isinstance(read, dict):
        if unknown := [name for name in read if name not in key]:
            raise NoSuchKey(f"{unknown[0]} is not in the key, which is {_listed(key, types)}.")
        return read
    if len(names) == 1:
        return {names[0]: text}
    example = json.dumps(dict.fromkeys(names or key, "…"), ensure_ascii=False)
    raise NoSuchKey(f"The key is {_listed(key, types)}; write it as {example}.")


def _equal(name: str, type_: str, value: Any) -> list[tuple[str, str, str | None]]:
    path = sql.quoted(name)
    if name == WINDOW and isinstance(value, dict) and set(value) <= {"start", "end"}:
        return [
            (f"{WINDOW}.{end}", "timestamp", _text(f"window.{end}", "timestamp", at))
            for end, at in value.items()
        ]
    return [(path, type_, None if value is None else _text(name, type_, value))]


def _text(name: str, type_: str, value: Any) -> str:
    """The value as text that Spark casts to the type."""
    wrong = NoSuchKey(f"{name} is {_article(type_)}; {json.dumps(value)} is none.")
    plain = isinstance(value, str)
    try:
        if type_ == "string":
            if not plain:
                raise wrong
            return str(value)
        if type_ in _WHOLE:
            return _whole(value, _WHOLE[type_])
        if type_ in ("float", "double") or type_.startswith("decimal"):
            if isinstance(value, bool):
                raise wrong
            return repr(float(value)) if type_ in ("float", "double") else _decimal(value)
        if type_ == "boolean":
            return {"true": "true", "false": "false"}[str(value).lower()]
        if type_ == "timestamp" and plain:
            at = datetime.fromisoformat(value)
            return (at if at.tzinfo else at.replace(tzinfo=UTC)).isoformat()
        if type_ == "date" and plain:
            return date.fromisoformat(value).isoformat()
    except (ValueError, KeyError, TypeError, OverflowError):
        raise wrong from None
    if type_ in ("timestamp", "date"):
        raise wrong
    raise NoSuchKey(f"{name} is {_article(type_)}, by which can't be asked; leave it out.")


def _whole(value: Any, bits: int) -> str:
    number = int(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise ValueError
    return str(number)


def _decimal(value: Any) -> str:
    try:
        return str(Decimal(str(value)))
    except InvalidOperation:
        raise ValueError from None


def _listed(key: list[str], types: Mapping[str, str]) -> str:
    return ", ".join(f"{name} ({_plain(types[name])})" for name in key)


def _article(type_: str) -> str:
    return f"of type {_plain(type_)}"


def _plain(type_: str) -> str:
    return "text" if type_ == "string" else type_
