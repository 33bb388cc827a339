"""What changed from one graph to another."""

from typing import Any

from runner.graph import Graph

Json = dict[str, Any]


def diff(before: Graph, after: Graph) -> Json:
    """The steps and edges added, removed and changed; where steps stand is no difference."""
    changed = [
        change
        for id_, step in after.by_id.items()
        if id_ in before.by_id
        for change in _changes(id_, _as_json(before.by_id[id_]), _as_json(step))
    ]
    edges_before, edges_after = _edges(before), _edges(after)
    return {
        "steps": {
            "added": [id_ for id_ in after.by_id if id_ not in before.by_id],
            "removed": [id_ for id_ in before.by_id if id_ not in after.by_id],
            "changed": changed,
        },
        "edges": {
            "added": [edge for edge in edges_after if edge not in edges_before],
            "removed": [edge for edge in edges_before if edge not in edges_after],
        },
    }


def _changes(step: str, before: Json, after: Json) -> list[Json]:
    return [
        {"step": step, "field": field, "from": before.get(field), "to": after.get(field)}
        for field in {**before, **after}
        if before.get(field) != after.get(field)
    ]


def _as_json(step: Any) -> Json:
    """A step as flat fields: those of its configuration by their own names."""
    return {"type": step.type, "label": step.label, **step.config}


def _edges(graph: Graph) -> list[Json]:
    return [edge.model_dump(by_alias=True, exclude_none=True) for edge in graph.edges]
