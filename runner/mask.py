"""Values that nobody may see, in rows that people are shown."""

import json
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

INSTEAD = "•••"
# In a text that is nearly JSON: the name of a field, and a value as far as that goes.
_NAME = re.compile(r'"([^"\\\n]{1,200})"\s{0,20}:\s{0,20}')
_VALUE = re.compile(r'"(?:[^"\\]|\\.)*(?:"|$)|[\[{].*|[^,}\]\n]*', re.DOTALL)


class NotKnown(ValueError):
    """A masked value was to stay, and nobody can say what it was; the message names its field."""


def masked(row: Any, names: Sequence[str]) -> Any:
    """A row without the values of the columns and fields, at any depth, that are so named.

    In a name `*` stands for any letters; large and small ones are the same. A value that is null
    stays so.
    """
    if not names:
        return row
    if isinstance(row, dict):
        return {
            name: INSTEAD if value is not None and _is_meant(name, names) else masked(value, names)
            for name, value in row.items()
        }
    if isinstance(row, list):
        return [masked(item, names) for item in row]
    return row


def masked_text(text: str, names: Sequence[str]) -> str:
    """A record's text with its fields masked where it is JSON, or nearly; any other as it is."""
    if not names:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _masked_fields(text, names)
    shown = masked(value, names)
    return text if shown == value else json.dumps(shown, ensure_ascii=False)


def unmasked(edited: Any, original: Any, names: Sequence[str]) -> Any:
    """A row that somebody edited as `masked` showed it, with what was masked as it was.

    Raises NotKnown where the original has no such value.
    """
    if isinstance(edited, dict):
        known = original if isinstance(original, dict) else {}
        found = {}
        for name, value in edited.items():
            if value == INSTEAD and _is_meant(name, names):
                if name not in known:
                    raise NotKnown(name)
                found[name] = known[name]
            else:
                found[name] = unmasked(value, known.get(name), names)
        return found
    if isinstance(edited, list):
        old = original if isinstance(original, list) else []
        return [
            unmasked(item, old[n] if n < len(old) else None, names) for n, item in enumerate(edited)
        ]
    return edited


def _masked_fields(text: str, names: Sequence[str]) -> str:
    """A text without the values that stand behind such names in it, as in broken JSON."""
    parts, at = [], 0
    while field := _NAME.search(text, at):
        parts.append(text[at : field.end()])
        at = field.end()
        if _is_meant(field[1], names) and (value := _VALUE.match(text, at)):
            parts.append(f'"{INSTEAD}"')
            at = value.end()
    return "".join((*parts, text[at:]))


def _is_meant(name: str, names: Sequence[str]) -> bool:
    return any(fnmatchcase(name.casefold(), pattern.casefold()) for pattern in names)
