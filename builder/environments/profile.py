"""How Spark runs a deployment: where, with how many cores and how much memory."""

import re
from dataclasses import dataclass, field

from django.conf import settings

from builder.connections.addresses import read_addresses
from builder.environments import conf
from runner.problems import Problem

# Headrace's own default: a job on one machine has as many cores as its segments need.
_LOCAL = re.compile(r"local(?:\[(?P<cores>\*|[1-9]\d{0,3})\])?")
_CLUSTER = "spark://"
MOST_CORES = 9999


@dataclass(frozen=True)
class Profile:
    """What an environment asks of Spark; what is empty is as the installation has it."""

    master: str = ""
    cores: int | None = None
    driver_memory: str = ""
    executor_memory: str = ""
    conf: dict[str, str] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """The master in Spark's words."""
        return self.master or settings.ENVIRONMENT.spark_master or "local[*]"

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """Where the cluster's masters listen; none where jobs run on this machine."""
        if not self.where.startswith(_CLUSTER):
            return []
        return read_addresses(self.where.removeprefix(_CLUSTER))

    @property
    def slots(self) -> int | None:
        """How many tasks can run at once, None where there are as many as are needed."""
        local = _LOCAL.fullmatch(self.where)
        if self.cores is not None:
            return self.cores
        return int(local["cores"]) if local and (local["cores"] or "*") != "*" else None

    @property
    def runner_master(self) -> str | None:
        """The master as a job's folder says it: None where it makes one of its own."""
        if not _LOCAL.fullmatch(self.where):
            return self.where
        return f"local[{self.slots}]" if self.slots else None

    @property
    def runner_conf(self) -> dict[str, str]:
        """The settings of Spark that come of it."""
        found = dict(self.conf)
        if self.driver_memory:
            found["spark.driver.memory"] = self.driver_memory
        if self.executor_memory:
            found["spark.executor.memory"] = self.executor_memory
        if self.cores and self.addresses:
            found["spark.cores.max"] = str(self.cores)
        return found

    def faults(self) -> list[Problem]:
        """All that is wrong with it, each on its field."""
        found = []
        if said := _fault_of_master(self.master):
            found.append(Problem(None, "master", said))
        if self.cores is not None and not 1 <= self.cores <= MOST_CORES:
            found.append(Problem(None, "cores", f"Give 1 to {MOST_CORES} cores."))
        for name in ("driver_memory", "executor_memory"):
            value = getattr(self, name)
            if value and not re.fullmatch(r"[1-9]\d{0,6}[mg]", value):
                found.append(Problem(None, name, "Write a size such as 512m or 2g."))
        return found + conf.faults(self.conf)


def _fault_of_master(master: str) -> str | None:
    if not master or _LOCAL.fullmatch(master):
        return None
    if not master.startswith(_CLUSTER):
        return "Write local[*] for this machine, or spark://host:port for a cluster."
    try:
        read_addresses(master.removeprefix(_CLUSTER))
    except ValueError as error:
        return str(error)
    return None
