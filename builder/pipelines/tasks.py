"""Spark's word on a draft, by the spark worker, and rehearsals, by the rehearsal worker.

Each keeps a session warm; their pools are solo: one process, one thread.
"""

import json
import os
import threading
from typing import Any

from celery import Task, shared_task

from builder.pipelines.templates import templates
from runner.graph import read_graph

# Set in such a worker once Spark stands.
is_warm = threading.Event()
# How long a rehearsal that has run too long may take to end.
TO_END_SECONDS = 10


@shared_task
def warm(queue: str | None = None) -> None:
    """Start Spark before the first draft asks for it, since that takes some seconds.

    In the worker of a queue it starts as that queue's tasks need it; for those of edits it also
    analyzes the templates, so that the first take no longer than the hundredth.
    """
    from runner.analyze import FOR_REHEARSALS, practise, warm_session

    warm_session(compiling=FOR_REHEARSALS if queue == "rehearsal" else None)
    if queue == "spark":
        practise([read_graph(template["graph"]) for template in templates().values()])
    is_warm.set()


@shared_task(bind=True, ignore_result=False)
def rehearse(
    self: Task,
    graph: dict[str, Any],
    rows: dict[str, list[dict[str, Any]]],
    connections: dict[str, dict[str, str]],
    seconds: float,
) -> dict[str, Any]:
    """What the graph makes of these rows, or the problems that keep it from running.

    What does not even end when it is asked to ends with this process, which is started again.
    """
    from runner.problems import InvalidGraph
    from runner.rehearse import rehearse as rehearse_graph
    from runner.rehearse import too_long

    def give_up() -> None:
        problem = too_long(seconds).as_json()
        told = {"steps": {}, "dead_letters": [], "problems": [problem]}
        self.backend.store_result(self.request.id, told, "SUCCESS")
        os._exit(1)

    alarm = threading.Timer(seconds + TO_END_SECONDS, give_up)
    alarm.daemon = True
    alarm.start()
    try:
        done = rehearse_graph(read_graph(graph), rows, connections, seconds=seconds)
    except InvalidGraph as error:
        return {"unsound": [problem.as_json() for problem in error.problems]}
    finally:
        alarm.cancel()
    return {
        "steps": done.steps,
        "dead_letters": done.dead_letters,
        "problems": [problem.as_json() for problem in done.problems],
    }


@shared_task(ignore_result=False)
def analyze(graph: str, connections: dict[str, dict[str, str]]) -> str:
    """The columns of each step with Spark's types, and the problems Spark finds.

    Graph and answer are JSON in one text: Celery looks at each part of what it can see into,
    which takes as long as the analysis.
    """
    # Only the spark worker may load pyspark.
    from runner.analyze import analyze as analyze_graph

    analysis = analyze_graph(read_graph(json.loads(graph)), connections)
    problems = [problem.as_json() for problem in analysis.problems]
    return json.dumps({"problems": problems, "steps": analysis.steps})
