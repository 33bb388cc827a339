"""The graphs that tests draw on: those of the scenarios, and a few that no rows are given for."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

_HERE = Path(__file__).parent
PATHS = {
    p.stem: p for folder in ("graphs", "scenarios") for p in sorted((_HERE / folder).glob("*.json"))
}
NAMES = sorted(PATHS)
# What `make scenarios` runs: it takes long, and jobs show less of it with every change.
WITH_SCENARIOS = pytest.mark.skipif(
    not os.environ.get("HEADRACE_SCENARIOS"), reason="run by `make scenarios`"
)


def drawn(name: str) -> Any:
    """A graph by its name, as JSON values of the caller's own."""
    return json.loads(PATHS[name].read_text())["graph"]


SCENARIOS = [PATHS[name] for name in NAMES if PATHS[name].parent.name == "scenarios"]
