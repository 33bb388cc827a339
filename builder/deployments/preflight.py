"""Whether the world is ready for a job, asked before a JVM is started for it."""

from collections import defaultdict
from dataclasses import dataclass, field

from builder.connections import kafka
from builder.connections.models import connections_for_runner
from builder.deployments.models import Deployment

ASK_SECONDS = 3.0


@dataclass(frozen=True)
class Hindrance:
    """Why a job can't start yet, in a sentence, with the topics that are missing."""

    message: str
    missing_topics: list[dict[str, str]] = field(default_factory=list)
    step: str | None = None


def hindrance(deployment: Deployment) -> Hindrance | None:
    """What keeps the deployment's job from starting: a broker that is away, a missing topic."""
    connections = connections_for_runner()
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
        servers = connections[name]["bootstrap_servers"]
        try:
            there = kafka.topic_partitions(servers, timeout=ASK_SECONDS)
        except kafka.Unreachable as error:
            return Hindrance(
                f"The connection {name} does not answer: {error}", step=uses[0]["step"]
            )
        for use in uses:
            topic = {"connection": name, "topic": use.get("topic", "")}
            is_read = use["use"] == "read" and "topic" in use
            if is_read and use["topic"] not in there and topic not in missing:
                missing.append(topic)
                step = step or use["step"]
    if not missing:
        return None
    names = ", ".join(f"{t['topic']} ({t['connection']})" for t in missing)
    if len(missing) == 1:
        message = f"The topic {names} is not there yet. Make it, and the job starts by itself."
    else:
        message = f"The topics {names} are not there yet. Make them, and the job starts by itself."
    return Hindrance(message, missing, step)
