"""The graphs that tests draw on: those of the scenarios, and a few that no rows are given for."""

import json
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
PATHS = {
    p.stem: p for folder in ("graphs", "scenarios") for p in sorted((_HERE / folder).glob("*.json"))
}
NAMES = sorted(PATHS)


def drawn(name: str) -> Any:
    """A graph by its name, as JSON values of the caller's own."""
    return json.loads(PATHS[name].read_text())["graph"]


SCENARIOS = [PATHS[name] for name in NAMES if PATHS[name].parent.name == "scenarios"]
