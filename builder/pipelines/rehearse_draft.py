"""A graph tried on given rows, by the rehearsal worker."""

from typing import Any

from celery.exceptions import TimeoutError as NoAnswer
from django.conf import settings
from django.core.cache import cache
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from builder.connections.models import connections_for_runner
from builder.pipelines.tasks import rehearse
from builder.refused import Refused, unsound
from runner.graph import read_graph
from runner.problems import Problem

Json = dict[str, Any]


def rehearse_draft(graph: Json, rows: dict[str, list[Json]]) -> Json:
    """The rows of every step, dead letters and problems.

    Raises Refused: 422 with problems for an unsound graph or unusable rows, 503 where Spark is
    not there to try it, 504 where it does not end in time.
    """
    read_graph(graph)
    result = by_worker(graph, rows)
    if "unsound" in result:
        raise unsound([Problem(**problem) for problem in result["unsound"]])
    return result


def by_worker(graph: Json, rows: dict[str, list[Json]]) -> Json:
    """What the rehearsal worker's task `rehearse` answers.

    Raises Refused: 503 where Spark is not there to try it, 504 where it does not end in time.
    """
    seconds = settings.ENVIRONMENT.rehearse_seconds
    away = Refused(503, "Spark is starting, or away; try again in a moment.")
    try:
        if not cache.get("worker:rehearsal"):
            raise away
        arguments = (graph, rows, connections_for_runner(), seconds)
        answer = rehearse.apply_async(arguments, expires=seconds, retry=False)
        try:
            # What waits before it in the worker's queue may take as long again.
            result: Json = answer.get(timeout=2 * seconds)
        except NoAnswer:
            answer.forget()
            raise Refused(504, "Spark is busy with other rehearsals; try again.") from None
    except (RedisError, OperationalError):
        raise away from None
    return result
