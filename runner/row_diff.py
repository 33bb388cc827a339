"""Compare the rows that should come out of a step with those that did."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from runner.rows import DELETED

Row = Mapping[str, Any]
# A row's values by column: as they are, and as a browser hands them on.
Cells = Mapping[str, tuple[str, str]]
# The cells of all found rows, by the hidden columns that an expected row names.
Seen = Mapping[frozenset[str], Sequence[Cells]]

# Above it, not every whole number has a double of its own, and browsers know doubles only.
EXACT = 2**53

# Each missing row is held against each unexpected one, so these are not all there may be.
PAIRED = 200
TOLD = 50


@dataclass(frozen=True)
class ComparedRow:
    """A row that was expected, a row that was found, or both; `columns` are those that differ."""

    op: Literal["same", "missing", "unexpected", "changed"]
    expected: Row | None = None
    found: Row | None = None
    columns: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "op": self.op,
            "expected": self.expected and dict(self.expected),
            "found": self.found and dict(self.found),
            "columns": list(self.columns),
        }


def row_diff(expected: Sequence[Row], found: Sequence[Row]) -> list[ComparedRow]:
    """Compare all rows of a step, in whatever order they came; each found row is used once.

    Numbers are compared by value, a large one also with what a browser has rounded it to; all
    else is compared exactly. Columns that begin with an underscore count where the expected row
    names them; whether a row is a deletion always counts. A missing row and an unexpected one
    that differ in at most half of their columns are one `changed` row. Expected rows come first,
    in their order, then the unexpected ones.
    """
    seen = {
        hidden: [_cells(row, hidden) for row in found] for hidden in set(map(_hidden, expected))
    }
    partners = _equal(expected, seen)
    missing = [i for i in range(len(expected)) if i not in partners]
    taken = set(partners.values())
    unexpected = [j for j in range(len(found)) if j not in taken]
    changed = _alike(expected, seen, missing, unexpected)
    compared = []
    for i, row in enumerate(expected):
        if i in partners:
            compared.append(ComparedRow("same", row, found[partners[i]]))
        elif i in changed:
            other = found[changed[i]]
            compared.append(ComparedRow("changed", row, other, _differing(row, other)))
        else:
            compared.append(ComparedRow("missing", row))
    alone = set(unexpected) - set(changed.values())
    return [*compared, *(ComparedRow("unexpected", None, found[j]) for j in sorted(alone))]


def is_same(compared: Iterable[ComparedRow]) -> bool:
    """Whether exactly the expected rows were found."""
    return all(row.op == "same" for row in compared)


def as_text(compared: Sequence[ComparedRow]) -> str:
    """The differences for people: `-` before what was expected, `+` before what was found."""
    different = [row for row in compared if row.op != "same"]
    ops = Counter(row.op for row in compared)
    told = [f"{ops[op]} {op}" for op in ("changed", "missing", "unexpected") if ops[op]]
    lines = [", ".join([*told, f"{ops['same']} as expected"])]
    for row in different[:TOLD]:
        lines.append(f"{row.op} ({', '.join(row.columns)}):" if row.columns else f"{row.op}:")
        if row.expected is not None:
            lines.append(f"  - {_shown(row.expected, row.expected)}")
        if row.found is not None:
            lines.append(f"  + {_shown(row.found, row.expected or {})}")
    if len(different) > TOLD:
        lines.append(f"… and {len(different) - TOLD} more differences")
    return "\n".join(lines)


def _equal(expected: Sequence[Row], seen: Seen) -> dict[int, int]:
    """Which found row is the same as which expected one."""
    partners: dict[int, int] = {}
    taken: set[int] = set()
    indexes = {hidden: _index(found) for hidden, found in seen.items()}
    # Rows that name more hidden columns fit fewer, so they choose first.
    for i in sorted(range(len(expected)), key=lambda i: -len(_hidden(expected[i]))):
        hidden = _hidden(expected[i])
        ours = _cells(expected[i], hidden)
        for j in indexes[hidden].get(_rounded(ours), ()):
            if j not in taken and not _unlike(ours, seen[hidden][j]):
                partners[i] = j
                taken.add(j)
                break
    return partners


def _index(found: Sequence[Cells]) -> dict[frozenset[tuple[str, str]], list[int]]:
    index = defaultdict(list)
    for j, cells in enumerate(found):
        index[_rounded(cells)].append(j)
    return index


def _rounded(cells: Cells) -> frozenset[tuple[str, str]]:
    return frozenset((name, rounded) for name, (_, rounded) in cells.items())


def _alike(
    expected: Sequence[Row], seen: Seen, missing: list[int], unexpected: list[int]
) -> dict[int, int]:
    """Which unexpected row is probably a missing one that has changed."""
    alike = []
    for i in missing[:PAIRED]:
        hidden = _hidden(expected[i])
        ours = _cells(expected[i], hidden)
        order = {name: n for n, name in enumerate(ours)}
        for j in unexpected[:PAIRED]:
            theirs = seen[hidden][j]
            columns = _unlike(ours, theirs)
            if 2 * len(columns) <= len(ours.keys() | theirs.keys()):
                # What names a row usually stands first in it.
                alike.append((len(columns), -order.get(columns[0], len(order)), i, j))
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, _, i, j in sorted(alike):
        if i not in pairs and j not in taken:
            pairs[i] = j
            taken.add(j)
    return pairs


def _differing(expected: Row, found: Row) -> tuple[str, ...]:
    hidden = _hidden(expected)
    return _unlike(_cells(expected, hidden), _cells(found, hidden))


def _unlike(ours: Cells, theirs: Cells) -> tuple[str, ...]:
    return tuple(
        name
        for name in {**ours, **theirs}
        if name not in ours or ours[name][0] not in theirs.get(name, ())
    )


def _hidden(expected: Row) -> frozenset[str]:
    return frozenset(name for name in expected if name.startswith("_")) - {DELETED}


def _compared(row: Row, hidden: Iterable[str]) -> Row:
    """The columns of a row that count; a deletion is one whether or not anybody asks."""
    kept = {n: v for n, v in row.items() if not n.startswith("_") or n in hidden}
    return {**kept, DELETED: True} if row.get(DELETED) else kept


def _cells(row: Row, hidden: Iterable[str]) -> Cells:
    return {
        name: (_text(value, _by_value), _text(value, _as_in_browser))
        for name, value in _compared(row, hidden).items()
    }


def _text(value: Any, number: Callable[[Any], Any]) -> str:
    """The same for values that are the same."""

    def same(value: Any) -> Any:
        if isinstance(value, list):
            return [same(item) for item in value]
        if isinstance(value, Mapping):
            return {name: same(item) for name, item in value.items()}
        return number(value)

    return json.dumps(same(value), sort_keys=True)


def _by_value(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _as_in_browser(value: Any) -> Any:
    value = _by_value(value)
    if isinstance(value, int) and abs(value) > EXACT:
        return int(Decimal(repr(float(value))))
    return value


def _shown(row: Row, expected: Row) -> str:
    return json.dumps(_compared(row, _hidden(expected)), ensure_ascii=False)
