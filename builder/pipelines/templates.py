"""Pipelines to begin with."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from builder.pipelines.layout import layout
from runner.graph import read_graph

FOLDER = Path(__file__).parent / "templates"


@cache
def templates() -> dict[str, dict[str, Any]]:
    """Each template by name: `name`, `title`, `about` and its `graph`, laid out."""
    found = {}
    for path in sorted(FOLDER.glob("*.json"), reverse=True):
        data = json.loads(path.read_text())
        graph = read_graph(data["graph"])
        found[data["name"]] = {
            "name": data["name"],
            "title": data["name"].replace("-", " ").capitalize(),
            "about": data["about"],
            "graph": {**data["graph"], "canvas": {"layout": layout(graph)}},
        }
    return found
