"""What the tables of a deployment hold, as the rehearsal worker finds it."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, cast

from celery.exceptions import TimeoutError as NoAnswer
from django.conf import settings
from django.core.cache import cache
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from builder.deployments.models import Deployment
from builder.environments.models import connections_in, masks_of, rows_in
from builder.refused import Refused
from runner.check import check
from runner.graph import read_graph
from runner.mask import masked
from runner.plan import AskedMode, Plan, plan
from runner.problems import InvalidGraph
from runner.rows import HEADERS
from runner.tables import tables

Json = dict[str, Any]


def tables_of(deployment: Deployment) -> list[Json]:
    """The steps that give tables, each with its key and what can be told of it."""
    planned = plan_of(deployment)
    told = []
    for table in tables(planned, deployment.name):
        rows, step = planned.rows[table.step], planned.graph.by_id[table.step]
        told.append(
            {
                "step": table.step,
                "label": step.title,
                "key": [{"name": name, "type": rows.type_of(name)} for name in rows.key],
                "mode": table.segment and table.segment.mode,
                "kept": table.kept,
                "live": table.live or not table.real_time,
            }
        )
    return told


def rows_of(deployment: Deployment, step: str, question: Json) -> Json:
    """The rows of a step's table that are asked for, and how fresh they are.

    Raises Refused: 404 for a step that is not there, 422 for one without a table or a key that
    does not fit, 503 and 504 where Spark is away, or busy.
    """
    planned = plan_of(deployment)
    known = [table.step for table in tables(planned, deployment.name)]
    if step not in known:
        those = f"those here are: {', '.join(known)}" if known else "there is none here"
        if step not in {s.id for s in planned.graph.steps}:
            raise Refused(404, f"There is no step {step}; of the tables, {those}.")
        raise Refused(422, f"{step} gives no table; {those}.")
    _named_in(deployment, planned)
    answer = _by_worker(deployment, {"step": step, **question})
    if "refused" in answer:
        status, detail = answer["refused"]
        raise Refused(status, detail)
    return {**answer, "rows": masked(answer["rows"], masks_of(deployment.environment))}


def plan_of(deployment: Deployment) -> Plan:
    """The plan of what runs. Raises Refused (409) where it is none any more."""
    graph = read_graph(deployment.graph)
    checked = check(graph, connections_in(deployment.environment), headers=graph.names(HEADERS))
    planned = plan(graph, checked.rows, cast("AskedMode", deployment.mode))
    if checked.errors or planned.problems:
        problems = [*checked.errors, *planned.problems]
        raise Refused(409, f"What is deployed is not sound any more: {problems[0].message}")
    return planned


def answer(deployment: Deployment, question: Json, seconds: float) -> Json:
    """What the worker answers; `refused` has a status and a sentence."""
    from runner.state import Question, TookTooLong, Unanswerable, state

    for name in ("begin", "end"):
        if question.get(name):
            question = {**question, name: datetime.fromisoformat(question[name])}
    try:
        connections = {n: c.with_secrets() for n, c in rows_in(deployment.environment).items()}
        found = state(
            plan_of(deployment),
            connections,
            Question(**question),
            name=deployment.name,
            checkpoints=deployment.folder / "checkpoints",
            seconds=seconds,
        )
    except (Unanswerable, InvalidGraph) as error:
        return {"refused": [422, str(error)]}
    except TookTooLong:
        return {"refused": [504, too_long(seconds)]}
    except Refused as refused:
        return {"refused": [refused.status, refused.detail]}
    told = asdict(found)
    for name in ("as_of", "committed_at"):
        told[name] = told[name] and told[name].isoformat()
    return {"step": question["step"], "from": told.pop("source"), **told}


def too_long(seconds: float) -> str:
    return (
        f"The answer takes longer than {seconds:g} seconds. Ask for one key, or for what is "
        "committed only (live=false)."
    )


def _named_in(deployment: Deployment, planned: Plan) -> None:
    for segment in planned.segments:
        if f"/{segment.checkpoint}" not in deployment.script:
            raise Refused(
                409,
                "This was deployed by an earlier Headrace, which named what is remembered "
                "otherwise; deploy it again to ask it.",
            )


def _by_worker(deployment: Deployment, question: Json) -> Json:
    from builder.monitor.tasks import ask_state

    seconds = settings.ENVIRONMENT.state_seconds
    away = Refused(503, "Spark is starting, or away; try again in a moment.", retry_after=5)
    for name in ("begin", "end"):
        if at := question.get(name):
            question[name] = (at if at.tzinfo else at.replace(tzinfo=UTC)).isoformat()
    try:
        if not cache.get("worker:rehearsal"):
            raise away
        arguments = (str(deployment.pk), question, seconds)
        # What waits before it in the worker's queue is a rehearsal, or another question.
        patience = settings.ENVIRONMENT.rehearse_seconds
        asked = ask_state.apply_async(arguments, expires=patience, retry=False)
        try:
            result: Json = asked.get(timeout=patience + seconds)
        except NoAnswer:
            asked.forget()
            raise Refused(504, "Spark is busy with rehearsals; try again.") from None
    except (RedisError, OperationalError):
        raise away from None
    return result
