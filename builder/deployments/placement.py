"""Whether an environment has room for a deployment, and whether it may go."""

import socket
from collections.abc import Mapping, Sequence
from typing import Any

from builder.deployments.models import Deployment
from builder.environments.models import Environment, profile_of, rows_in
from builder.environments.profile import Profile
from builder.pipelines.planned import partitions_of, partitions_read
from builder.refused import Refused
from runner.compile import Job
from runner.problems import Problem
from runner.slots import slots

ASK_SECONDS = 2.0
Topics = Sequence[Mapping[str, Any]]


def too_few_cores(environment: str, job: Job) -> list[Problem]:
    """The problem of a job that needs more cores than its environment gives it.

    None where a broker does not answer: then nobody knows yet how many partitions are read.
    """
    profile = profile_of(environment)
    if profile.slots is None:
        return []
    known = partitions_of(job.topics, rows_in(environment))
    if known is None:
        return []
    segments = [segment.as_json() for segment in job.segments]
    said = shortage(profile, segments, partitions_read(job.topics, known))
    return [Problem(None, "environment", f"{said} Give {environment} more.")] if said else []


def shortage(
    profile: Profile, segments: Sequence[Mapping[str, Any]], partitions: Mapping[str, int]
) -> str | None:
    """That the segments hold more cores than there are, in a sentence with both numbers."""
    if profile.slots is None:
        return None
    held = sum(slots(segment, partitions) for segment in segments)
    # Batches come and go; one core serves them all, if slowly.
    for_batches = int(any(segment["mode"] == "micro_batch" for segment in segments))
    needed = held + for_batches
    if needed <= profile.slots:
        return None
    why = "one for each partition that is read and each that rows are shuffled into"
    beside = ", and one for batches" if for_batches and held else ""
    return (
        f"It needs {needed} cores in real time ({why}{beside}), and the environment has "
        f"{profile.slots}."
    )


def cluster_away(environment: str) -> str | None:
    """That no master of the environment's cluster answers, in a sentence; None where one does."""
    profile = profile_of(environment)
    trouble = []
    for address in profile.addresses:
        try:
            socket.create_connection(address, timeout=ASK_SECONDS).close()
        except OSError as error:
            trouble.append(f"{address[0]}:{address[1]} ({error.strerror or error})")
        else:
            return None
    if not trouble:
        return None
    return (
        f"The Spark cluster of the environment {environment} does not answer at "
        f"{', '.join(trouble)}. The job starts by itself when it does."
    )


def keep_environments_in_use(sender: type[Environment], instance: Environment, **_: Any) -> None:
    """Receive `pre_delete`; raises Refused (409) where deployments use the environment."""
    used = Deployment.objects.filter(environment=instance.name).select_related("pipeline")
    if names := [deployment.pipeline.name for deployment in used[:4]]:
        more = " and others" if len(names) > 3 else ""
        raise Refused(
            409,
            f"{instance} has deployments of {', '.join(names[:3])}{more}; delete those first.",
        )
