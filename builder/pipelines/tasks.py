"""Spark's word on a draft. Runs on the spark worker, whose session stays warm."""

import threading
from typing import Any

from celery import shared_task

# Set in the spark worker (its pool is solo: one process, one thread) once Spark stands.
is_warm = threading.Event()


@shared_task
def warm() -> None:
    """Start Spark before the first draft asks for it, since that takes some seconds."""
    from runner.analyze import warm_session

    warm_session()
    is_warm.set()


@shared_task(ignore_result=False)
def rehearse(
    graph: dict[str, Any],
    rows: dict[str, list[dict[str, Any]]],
    connections: dict[str, dict[str, str]],
    seconds: float,
) -> dict[str, Any]:
    """What the graph makes of these rows, or the problems that keep it from running."""
    from runner.graph import read_graph
    from runner.problems import InvalidGraph
    from runner.rehearse import rehearse as rehearse_graph

    try:
        done = rehearse_graph(read_graph(graph), rows, connections, seconds=seconds)
    except InvalidGraph as error:
        return {"unsound": [problem.as_json() for problem in error.problems]}
    return {
        "steps": done.steps,
        "dead_letters": done.dead_letters,
        "problems": [problem.as_json() for problem in done.problems],
    }


@shared_task(ignore_result=False)
def analyze(graph: dict[str, Any], connections: dict[str, dict[str, str]]) -> dict[str, Any]:
    """The columns of each step with Spark's types, and the problems Spark finds."""
    # Only the spark worker may load pyspark.
    from runner.analyze import analyze as analyze_graph
    from runner.graph import read_graph

    analysis = analyze_graph(read_graph(graph), connections)
    return {
        "problems": [problem.as_json() for problem in analysis.problems],
        "steps": analysis.steps,
    }
