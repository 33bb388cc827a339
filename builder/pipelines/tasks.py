"""Spark's word on a draft. Runs on the spark worker, whose session stays warm."""

from typing import Any

from celery import shared_task


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
