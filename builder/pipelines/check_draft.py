"""Everything known about a draft: Headrace's own checks, and Spark's word where it can be had."""

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from celery.exceptions import TimeoutError as NoAnswer
from django.conf import settings
from django.core.cache import cache
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from builder.connections.models import connections_for_runner
from builder.pipelines.tasks import analyze
from runner.check import check
from runner.graph import read_graph
from runner.plan import plan
from runner.rows import SOURCE_COLUMNS

log = logging.getLogger(__name__)
Json = dict[str, Any]

# Threads that last, with their connections to Redis: a request has a thread of its own, which
# would make each of them anew. They only wait.
_asking = ThreadPoolExecutor(32, thread_name_prefix="ask-spark")


def check_draft(data: Json) -> Json:
    """The problems of a graph, and of each sound step its kind, key, columns, mode and segment.

    Where the spark worker is away or too slow, columns have the types that can be known
    without it (else none), and `analyzed` is false. Raises InvalidGraph for a wrong shape.
    """
    graph = read_graph(data)
    connections = connections_for_runner()
    checked = check(graph, connections)
    problems = [problem.as_json() for problem in checked.problems]
    steps: dict[str, Json] = {
        id_: {
            "kind": rows.kind,
            "key": list(rows.key),
            "columns": [{"name": c.name, "type": c.type} for c in rows.columns if _is_told(c.name)],
            "mode": None,
            "segment": None,
        }
        for id_, rows in checked.rows.items()
    }
    if not checked.errors:
        planned = plan(graph, checked.rows)
        for id_, step in steps.items():
            if segment := planned.segment_of(id_):
                step |= {"mode": segment.mode, "segment": segment.id}
    analysis = None
    if steps:
        analysis = _asking.submit(_analysis, graph.meaning(), connections).result()
    if analysis is not None:
        known = {(p["step"], p["message"]) for p in problems}
        problems += [p for p in analysis["problems"] if (p["step"], p["message"]) not in known]
        for id_, found in analysis["steps"].items():
            if id_ in steps:
                steps[id_]["columns"] = [c for c in found["columns"] if _is_told(c["name"])]
    return {"problems": problems, "steps": steps, "analyzed": analysis is not None}


def _is_told(column: str) -> bool:
    """Whether people are told of a column: not of those that only name a row."""
    return not column.startswith("_") or column in SOURCE_COLUMNS


def _analysis(graph: Json, connections: dict[str, dict[str, str]]) -> Json | None:
    """Spark's word, None where it can't be had in time."""
    seconds = settings.ENVIRONMENT.analyze_seconds
    try:
        if not cache.get("worker:spark"):
            return None
        arguments = (json.dumps(graph), connections)
        answer = analyze.apply_async(arguments, expires=seconds, retry=False)
        try:
            result = answer.get(timeout=seconds, propagate=False)
        except NoAnswer:
            answer.forget()
            return None
        if answer.failed():
            # Ours, and loud; a draft can be drawn on meanwhile.
            log.error("Spark could not analyze a graph: %s", answer.traceback)
            return None
        analysis: Json = json.loads(result)
        return analysis
    except (RedisError, OperationalError) as error:
        log.warning("No word from Spark, because Redis is away: %s", error)
        return None
