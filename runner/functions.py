"""What people are told of the functions they may call, in the words of Spark's own registry.

`python -m runner.functions` writes the file anew, when Spark or the list of functions changes.
"""

import json
import re
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any, get_args

from runner import sql
from runner.steps.aggregate import Aggregation

_FILE = Path(__file__).with_suffix(".json")
_LONGEST = 320
# What Spark's parser knows by itself, and its registry doesn't.
_OF_PARSER = {
    "timestampadd": {
        "signature": "timestampadd(unit, quantity, timestamp)",
        "summary": "Adds a number of units, such as MINUTE or DAY, to a timestamp.",
        "group": "datetime_funcs",
        "example": "timestampadd(HOUR, 8, timestamp'2022-02-28 23:00:00') → 2022-03-01 07:00:00",
    },
    "timestampdiff": {
        "signature": "timestampdiff(unit, start, end)",
        "summary": "Returns how many whole units, such as MINUTE or DAY, end is after start.",
        "group": "datetime_funcs",
        "example": "timestampdiff(MONTH, timestamp'2021-01-31 23:00:00', "
        "timestamp'2022-02-28 23:00:00') → 12",
    },
    "try_cast": {
        "signature": "try_cast(expr AS type)",
        "summary": "Casts the value to a type, and gives null where it does not fit.",
        "group": "conversion_funcs",
        "example": "try_cast('ten' AS int) → NULL",
    },
    "cast": {
        "signature": "cast(expr AS type)",
        "example": "cast('10' as int) → 10",
    },
}
# What the aggregate step calls by another name than Spark.
_SPARKS_NAME = {"count_distinct": "approx_count_distinct"}


def aggregate_functions() -> list[str]:
    """The functions that an aggregate step offers."""
    return list(get_args(Aggregation.model_fields["function"].annotation))


@lru_cache(maxsize=1)
def functions() -> list[dict[str, Any]]:
    """Name, signature, summary, group and an example of every function, by name.

    Those of the group `agg_funcs` are for aggregate steps, all others for expressions.
    """
    described: list[dict[str, Any]] = json.loads(_FILE.read_text())
    return described


def described(session: Any) -> list[dict[str, Any]]:
    """The same, asked of a session's Spark."""
    # What Spark's own documentation of its functions is made from.
    sparks = session._jvm.org.apache.spark.sql.api.python.PythonSQLUtils
    infos = {info.getName(): info for info in sparks.listBuiltinFunctionInfos()}
    entries = [_entry(name, infos.get(name)) for name in sorted(sql.FUNCTIONS)]
    for name in aggregate_functions():
        entry = _entry(_SPARKS_NAME.get(name, name), infos[_SPARKS_NAME.get(name, name)])
        entries.append({**entry, "name": name, "group": "agg_funcs"})
    return sorted(entries, key=lambda entry: (entry["name"], entry["group"]))


def _entry(name: str, info: Any) -> dict[str, Any]:
    known = _OF_PARSER.get(name, {})
    if info is None:
        return {"name": name, **known}
    signature, summary = _usage(name, info.getUsage())
    return {
        "name": name,
        "signature": signature,
        "summary": summary,
        "group": info.getGroup() or "misc_funcs",
        "example": _example(name, info.getExamples()),
        **known,
    }


def _usage(name: str, text: str) -> tuple[str, str]:
    """The first of the ways to call a function, and what Spark says of it."""
    lines = [line.strip() for line in text.replace("_FUNC_", name).strip().splitlines()]
    # A list of what an argument may be is too long for a hint.
    before = takewhile(lambda line: not line.startswith(("- ", "* ")), lines)
    signature, _, summary = " ".join(before).partition(" - ")
    ways = re.split(r",? or (?=\S)", signature)
    signature = next((way for way in ways if way.startswith(f"{name}(")), ways[0])
    # Another way to call it begins a paragraph of its own.
    another = re.search(rf"\s{re.escape(name)}(\([^)]*\))? - ", summary)
    return signature.strip(), _shortened(summary[: another.start()] if another else summary)


def _shortened(text: str) -> str:
    text = " ".join(re.sub(r"`|<[a-z/]+>", "", text).split())
    if len(text) > _LONGEST:
        text = re.split(r"(?<=[.!?]) ", text)[0]
    if len(text) > _LONGEST:
        text = text[:_LONGEST].rsplit(" ", 1)[0] + " …"
    text = text[:1].upper() + text[1:].rstrip(':"')
    return text if text.endswith((".", "…")) else f"{text}."


def _example(name: str, text: str) -> str | None:
    """The first example of one line, as `call → value`."""
    found = re.search(r"> SELECT (.+?);\s*\n\s*(.*?)\s*(?:\n|$)", text.replace("_FUNC_", name))
    if found is None or " FROM VALUES" in found[1]:
        return None
    return f"{found[1]} → {found[2]}"


if __name__ == "__main__":
    from runner.analyze import warm_session

    _FILE.write_text(json.dumps(described(warm_session()), indent=1, ensure_ascii=False) + "\n")
