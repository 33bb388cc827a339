"""Whether the world is ready for a job, asked before a JVM is started for it."""

from collections import defaultdict
from dataclasses import dataclass, field

from builder.connections import kafka
from builder.deployments.checkpoints import lost
from builder.deployments.models import Deployment
from builder.deployments.placement import cluster_away, shortage
from builder.environments.models import profile_of, rows_in
from builder.pipelines.planned import partitions_read
from runner.kafka_login import is_secured, options_key

ASK_SECONDS = 3.0


@dataclass(frozen=True)
class Hindrance:
    """Why a job can't start yet, in a sentence, with the topics that are missing."""

    message: str
    missing_topics: list[dict[str, str]] = field(default_factory=list)
    step: str | None = None


def hindrance(deployment: Deployment) -> Hindrance | None:
    """What keeps the deployment's job from starting.

    A cluster or a broker that is away, a lost checkpoint, a missing topic, too few cores.
    """
    environment = deployment.environment
    if said := cluster_away(environment) or _lost(deployment):
        return Hindrance(said)
    connections = rows_in(environment)
    known: dict[str, dict[str, int]] = {}
    reads = defaultdict(list)
    for use in deployment.topics:
        reads[use["connection"]].append(use)
    missing: list[dict[str, str]] = []
    step = None
    for name, uses in reads.items():
        if name not in connections:
            return Hindrance(
                f"There is no connection {name} any more; make it again, or edit the steps."
            )
        meant = connections[name]
        if is_secured(meant.for_runner()) and options_key(name) not in deployment.script:
            return Hindrance(f"{meant} is secured since this was deployed; deploy it once more.")
        try:
            there = known[name] = kafka.topic_partitions(meant, timeout=ASK_SECONDS)
        except kafka.NotLetIn:
            # Waiting can't help: the job says so for good, before it starts a Spark.
            return None
        except kafka.Unreachable as error:
            return Hindrance(
                f"The connection {meant} does not answer: {error}", step=uses[0]["step"]
            )
        for use in uses:
            topic = {"connection": meant.name, "topic": use.get("topic", "")}
            is_read = use["use"] == "read" and "topic" in use
            if is_read and use["topic"] not in there and topic not in missing:
                missing.append(topic)
                step = step or use["step"]
    if not missing:
        partitions = partitions_read(deployment.topics, known)
        said = shortage(profile_of(environment), deployment.segments, partitions)
        return Hindrance(f"{said} Give it more.") if said else None
    names = ", ".join(f"{t['topic']} ({t['connection']})" for t in missing)
    if len(missing) == 1:
        message = f"The topic {names} is not there yet. Make it, and the job starts by itself."
    else:
        message = f"The topics {names} are not there yet. Make them, and the job starts by itself."
    return Hindrance(message, missing, step)


def _lost(deployment: Deployment) -> str | None:
    """That a checkpoint is gone: without it the job would begin elsewhere without a word."""
    names = lost(deployment)
    if not names:
        return None
    gone = f"The checkpoint {names[0]} is" if len(names) == 1 else f"{', '.join(names)} are"
    return (
        f"{gone} gone, though the last run had {'it' if len(names) == 1 else 'them'}. Restore "
        "what was lost, and the job goes on by itself; or deploy it with a fresh start."
    )
