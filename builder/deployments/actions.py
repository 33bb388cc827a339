"""Every write to deployments: what is wanted. Making it so is the reconciler's."""

import hashlib
import json
import logging
from functools import partial
from typing import Any, Literal
from uuid import UUID

from celery import current_app
from django.contrib.auth.models import User
from django.db import transaction
from kombu.exceptions import OperationalError

from builder.access.activity import record
from builder.access.permissions import require, visible_or_404
from builder.deployments.fit import beginning_anew, fit
from builder.deployments.models import Deployment, DeployRequest, Desired, State
from builder.deployments.placement import too_few_cores
from builder.environments.models import connections_in, meant_by
from builder.monitor.tell import tell_state
from builder.pipelines.actions import freeze, require_python
from builder.pipelines.models import Pipeline, Tests, Version
from builder.refused import Refused, unsound
from runner.compile import Job, compile_job
from runner.graph import read_graph
from runner.problems import InvalidGraph

log = logging.getLogger(__name__)

PENDING = "Waiting for the control worker to start it."
# How many failed test cases a sentence names.
MOST_NAMED = 3


def deploy(
    user: User,
    pipeline_id: UUID,
    *,
    version: int | None = None,
    environment: str = "default",
    mode: Literal["auto", "real_time", "micro_batch"] = "auto",
    start: Any = None,
    state: Literal["keep", "fresh"] = "keep",
    comment: str = "",
    key: str | None = None,
) -> tuple[Deployment, bool]:
    """Want a version of a pipeline to run; answers its deployment, and whether it is a new one.

    Without `version` the draft is frozen as one. Asking again for what is already wanted
    changes nothing; anything else replaces what runs. `key` makes repeating a request
    harmless. Raises Refused: 422 with the problems of an unsound graph, 422 where the key was
    used for something else.
    """
    pipeline = visible_or_404(user, Pipeline.objects.all(), pk=pipeline_id)
    require(user, "change", Deployment(pipeline=pipeline))
    asked = [str(pipeline_id), version, environment, mode, start, state, comment]
    digest = hashlib.sha256(json.dumps(asked).encode()).hexdigest()
    if key and (done := _done_before(user, key, digest)):
        return done, False

    chosen = _chosen(user, pipeline, version)
    graph = chosen.graph if chosen else pipeline.graph
    require_python(user, read_graph(graph), pipeline)
    name = pipeline.slug if environment == "default" else f"{pipeline.slug}--{environment}"
    job = _compiled(graph, name, environment, mode, start)
    if problems := too_few_cores(environment, job):
        raise unsound(problems, "The pipeline")
    with transaction.atomic():
        Pipeline.objects.select_for_update().get(pk=pipeline.pk)
        if key and (done := _done_before(user, key, digest)):
            return done, False
        frozen = chosen or freeze(user, pipeline, graph, comment)
        deployment, made = _want(user, pipeline, frozen, environment, mode, start, state, name, job)
        if key:
            DeployRequest.objects.create(user=user, key=key, digest=digest, deployment=deployment)
    return deployment, made


def stop(user: User, deployment_id: UUID) -> Deployment:
    """Want a deployment stopped; its checkpoints stay."""
    with transaction.atomic():
        deployment = _locked(user, deployment_id)
        if deployment.desired == Desired.STOPPED:
            return deployment
        deployment.desired = Desired.STOPPED
        deployment.missing_topics = []
        deployment.retry_at = None
        if deployment.live_run():
            _set_state(deployment, State.STOPPING, "Asked to stop; finishing what is under way.")
        else:
            _set_state(deployment, State.STOPPED, "Stopped.")
        record(user, "stop", deployment, f"{user} stopped {deployment}")
    return deployment


def start(user: User, deployment_id: UUID) -> Deployment:
    """Want a deployment to run; it goes on from its checkpoints."""
    with transaction.atomic():
        deployment = _locked(user, deployment_id)
        if deployment.desired == Desired.RUNNING and deployment.state != State.FAILED:
            return deployment
        _begin_anew(deployment)
        record(user, "start", deployment, f"{user} started {deployment}")
    return deployment


def restart(user: User, deployment_id: UUID) -> Deployment:
    """Stop what runs and start it again from its checkpoints."""
    with transaction.atomic():
        deployment = _locked(user, deployment_id)
        _begin_anew(deployment)
        record(user, "restart", deployment, f"{user} restarted {deployment}")
    return deployment


def rewind(user: User, deployment_id: UUID, begin: Any) -> Deployment:
    """Want the same version to run from another place of its topics; it starts if it is stopped.

    What its steps remember is forgotten, since it would count the rows read again twice.
    """
    with transaction.atomic():
        deployment = _locked(user, deployment_id)
        job = _compiled_for(deployment, deployment.graph, begin)
        _freeze(deployment, deployment.version, deployment.mode, begin, job)
        deployment.fresh = True
        _begin_anew(deployment)
        record(user, "rewind", deployment, f"{user} rewound {deployment} to {_place(begin)}")
    return deployment


def roll_back(user: User, deployment_id: UUID) -> Deployment:
    """Want the version to run again that ran before this one; its checkpoints are kept.

    Raises Refused (409) where no other has run.
    """
    with transaction.atomic():
        deployment = _locked(user, deployment_id)
        before = deployment.version_before()
        if before is None:
            raise Refused(409, "No other version has run here; deploy one from the versions.")
        require_python(user, read_graph(before.graph), deployment.pipeline)
        deployed = deployment.version
        job = _compiled_for(deployment, before.graph, deployment.start)
        _freeze(deployment, before, deployment.mode, deployment.start, job)
        _begin_anew(deployment)
        message = f"{user} rolled back from version {deployed.number} to {before.number}"
        record(user, "roll_back", deployment, message)
    return deployment


def fit_of(
    user: User, deployment_id: UUID, version: int | None, mode: str | None = None
) -> dict[str, Any]:
    """Which segments of a version, or of the draft, would go on from the checkpoints there are.

    In another mode than the deployment's where one is given.
    """
    deployment = visible_or_404(user, Deployment.objects.all(), pk=deployment_id)
    chosen = _chosen(user, deployment.pipeline, version)
    graph = chosen.graph if chosen else deployment.pipeline.graph
    name, environment = deployment.name, deployment.environment
    job = _compiled(graph, name, environment, mode or deployment.mode, deployment.start)
    return fit(deployment, job)


def forget_deployments_of(sender: type[Pipeline], instance: Pipeline, **_: Any) -> None:
    """Let go of a pipeline's stopped deployments and their files, before it is deleted.

    Receives `pre_delete`; raises Refused (409) where one runs or should run.
    """
    for deployment in instance.deployments.select_for_update():
        if deployment.desired == Desired.RUNNING or deployment.live_run():
            raise Refused(409, f"{deployment} runs; stop it first, then delete the pipeline.")
        transaction.on_commit(partial(_send, "remove_folder", str(deployment.pk)))
        meant = meant_by(deployment.environment)
        connections = sorted({meant.get(t["connection"], "") for t in deployment.topics})
        transaction.on_commit(partial(_send, "remove_topics", deployment.name, connections))


def nudge(deployment: Deployment) -> None:
    """Have the deployment reconciled as soon as this transaction is committed."""
    transaction.on_commit(partial(_send, "reconcile", str(deployment.pk)))


def nudge_those_without_topic(connection: str, topic: str) -> None:
    """Start at once the deployments that wait for a topic that has just been made."""
    missing = {"connection": connection, "topic": topic}
    for deployment in Deployment.objects.filter(desired=Desired.RUNNING).exclude(retry_at=None):
        if missing in deployment.missing_topics:
            Deployment.objects.filter(pk=deployment.pk).update(retry_at=None)
            nudge(deployment)


def _locked(user: User, deployment_id: UUID) -> Deployment:
    seen = visible_or_404(user, Deployment.objects.all(), pk=deployment_id)
    require(user, "change", seen)
    return visible_or_404(user, Deployment.objects.select_for_update(), pk=deployment_id)


def _done_before(user: User, key: str, digest: str) -> Deployment | None:
    done = DeployRequest.objects.select_related("deployment").filter(user=user, key=key).first()
    if done is None:
        return None
    if done.digest != digest:
        raise Refused(422, "This Idempotency-Key was used for another request; choose a new one.")
    return done.deployment


def _chosen(user: User, pipeline: Pipeline, number: int | None) -> Version | None:
    """The version that is meant; None where that is the draft."""
    return None if number is None else visible_or_404(user, pipeline.versions.all(), number=number)


def _compiled_for(deployment: Deployment, graph: Any, start: Any) -> Job:
    name, environment = deployment.name, deployment.environment
    return _compiled(graph, name, environment, deployment.mode, start)


def _compiled(graph: Any, name: str, environment: str, mode: Any, start: Any) -> Job:
    try:
        return compile_job(
            read_graph(graph),
            name=name,
            connections=connections_in(environment),
            mode=mode,
            start=start,
        )
    except InvalidGraph as error:
        raise unsound(error.problems, "The pipeline") from None


def _want(
    user: User,
    pipeline: Pipeline,
    version: Version,
    environment: str,
    mode: str,
    start: Any,
    state: str,
    name: str,
    job: Job,
) -> tuple[Deployment, bool]:
    deployment = (
        Deployment.objects.select_for_update()
        .filter(pipeline=pipeline, environment=environment)
        .first()
    )
    made = deployment is None
    if deployment is None:
        deployment = Deployment(pipeline=pipeline, environment=environment, generation=0)
    before = _frozen(deployment)
    anew = [] if state == "fresh" else beginning_anew(deployment, job)
    deployment.name = name
    _freeze(deployment, version, mode, start, job)
    if not made and _is_wanted_already(deployment, before, state):
        return deployment, False
    deployment.fresh = state == "fresh" or deployment.fresh
    tests = pipeline.tests_of(version.hash)
    deployment.tests = dict(tests)
    if made:
        deployment.save()
    _begin_anew(deployment)
    kept = ", starting fresh" if state == "fresh" else ""
    if anew:
        kept = f"; what {', '.join(anew)} remembered does not fit it and begins anew"
    message = f"{user} deployed version {version.number}{kept}{_although(tests)}"
    record(user, "deploy", deployment, message)
    return deployment, made


def _although(tests: Tests) -> str:
    """What the test cases say against a deployment, as the end of a sentence."""
    failed, not_run = tests["failed"], tests["not_run"]
    objections = []
    if failed:
        more = f" and {len(failed) - MOST_NAMED} more" if len(failed) > MOST_NAMED else ""
        named = ", ".join(failed[:MOST_NAMED]) + more
        one = len(failed) == 1
        objections.append(f"the test case{'' if one else 's'} {named} fail{'s' if one else ''}")
    if not_run:
        objections.append(f"{not_run} test case{'' if not_run == 1 else 's'} had not run on it")
    return f", although {' and '.join(objections)}" if objections else ""


def _freeze(deployment: Deployment, version: Version, mode: str, start: Any, job: Job) -> None:
    """Note on the deployment (unsaved) exactly what is to run."""
    deployment.version = version
    deployment.mode = mode
    deployment.start = start
    deployment.graph = version.graph
    deployment.script = job.script
    deployment.segments = [segment.as_json() for segment in job.segments]
    deployment.topics = [dict(topic) for topic in job.topics]
    deployment.conf = dict(job.conf)


def _frozen(deployment: Deployment) -> list[Any]:
    return [
        deployment.version_id, deployment.mode, deployment.start, deployment.script,
        deployment.segments, deployment.topics, deployment.conf,
    ]  # fmt: skip


def _is_wanted_already(deployment: Deployment, before: list[Any], state: str) -> bool:
    """Whether a second click asks for what the first one has already got."""
    return (
        deployment.desired == Desired.RUNNING
        and deployment.state != State.FAILED
        and _frozen(deployment) == before
        and (state == "keep" or deployment.fresh)
    )


def _place(begin: Any) -> str:
    """Where sources begin, as the end of a sentence."""
    if isinstance(begin, str):
        return {"earliest": "the earliest rows", "latest": "the end"}[begin]
    return str(begin.get("timestamp") or "given offsets")


def _begin_anew(deployment: Deployment) -> None:
    deployment.desired = Desired.RUNNING
    deployment.generation += 1
    deployment.failures = 0
    deployment.retry_at = None
    deployment.missing_topics = []
    message = (
        PENDING if not deployment.live_run() else "Making ready; what runs goes on until then."
    )
    _set_state(deployment, State.PENDING, message)


def _set_state(deployment: Deployment, state: State, message: str) -> None:
    deployment.state = state
    deployment.message = message
    deployment.step = None
    deployment.save()
    tell_state(deployment)
    nudge(deployment)


def _send(task: str, *arguments: Any) -> None:
    try:
        # By name: the web process needs nothing of what the control worker does.
        current_app.send_task(
            f"builder.deployments.tasks.{task}", arguments, retry=False, ignore_result=True
        )
    except OperationalError as error:
        # What is wanted is in the database; the control worker finds it there by itself.
        log.warning("Could not nudge the control worker, because Redis is away: %s", error)
