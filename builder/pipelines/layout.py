"""Where steps stand on the canvas when nobody has placed them yet."""

from collections import Counter

from runner.graph import Graph

ACROSS = 280
DOWN = 160


def layout(graph: Graph) -> dict[str, dict[str, int]]:
    """A place for each step: sources left, each right of all it reads from, none on another."""
    column: dict[str, int] = {}
    for step in graph.in_order:
        parents = [edge.from_ for edge in graph.edges_into.get(step.id, ())]
        column[step.id] = 1 + max((column[parent] for parent in parents), default=-1)
    tallest = max(Counter(column.values()).values(), default=0)
    places: dict[str, dict[str, int]] = {}
    for number in sorted(set(column.values())):
        members = [step.id for step in graph.in_order if column[step.id] == number]
        top = (tallest - len(members)) * DOWN // 2
        for row, id_ in enumerate(members):
            places[id_] = {"x": number * ACROSS, "y": top + row * DOWN}
    return places
