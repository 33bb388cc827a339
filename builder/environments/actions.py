"""Every write to environments. What already runs keeps the old settings until it is restarted."""

import re
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from builder.access.activity import record
from builder.access.permissions import require, visible_or_404
from builder.connections.models import Connection
from builder.environments.models import Environment, Meaning
from builder.environments.profile import Profile
from builder.refused import Refused, unsound
from runner.problems import Problem

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,62}")
MOST_MASKS = 100
MOST_LETTERS = 100


@dataclass(frozen=True)
class Wanted:
    """An environment as somebody wants it.

    `connections` says which one a graph's name means, `masks` which columns are not shown.
    """

    name: str
    connections: dict[str, str] = field(default_factory=dict)
    profile: Profile = field(default_factory=Profile)
    masks: list[str] = field(default_factory=list)


def make_environment(user: User, wanted: Wanted) -> Environment:
    """Make an environment. Raises Refused: 409 where the name is taken, 422 with problems."""
    require(user, "add", Environment)
    with transaction.atomic():
        _refuse_taken(wanted.name)
        environment = Environment(name=wanted.name)
        _write(environment, wanted)
        record(user, "add", environment, f"{user} made the environment {environment}")
    return environment


def change_environment(user: User, name: str, wanted: Wanted) -> Environment:
    """Change an environment; its deployments take it up when they next start.

    Raises Refused: 409 where it would get another name, 422 with problems.
    """
    require(user, "change", Environment)
    with transaction.atomic():
        environment = visible_or_404(user, Environment.objects.select_for_update(), name=name)
        if wanted.name != name:
            raise Refused(409, "An environment keeps its name, since deployments know it by it.")
        _write(environment, wanted)
        record(user, "change", environment, f"{user} changed the environment {environment}")
    return environment


def delete_environment(user: User, name: str) -> None:
    """Delete an environment. Raises Refused (409) where a deployment uses it."""
    require(user, "delete", Environment)
    with transaction.atomic():
        environment = visible_or_404(user, Environment.objects.select_for_update(), name=name)
        record(user, "delete", environment, f"{user} deleted the environment {environment}")
        # Whoever uses it says so as Django's `pre_delete` is sent.
        environment.delete()


def keep_those_that_environments_mean(
    sender: type[Connection], instance: Connection, **_: Any
) -> None:
    """Receive `pre_delete`; raises Refused (409) where an environment means this connection."""
    names = Environment.objects.filter(meanings__connection=instance).distinct()
    if names:
        named = ", ".join(str(environment) for environment in names)
        raise Refused(409, f"{instance} is used by the environments {named}; change them first.")


def faults(wanted: Wanted) -> list[Problem]:
    """All that is wrong with an environment that somebody wants, each on its field."""
    return [
        *_faults_of_connections(wanted),
        *wanted.profile.faults(),
        *_faults_of_masks(wanted.masks),
    ]


def _refuse_taken(name: str) -> None:
    if Environment.objects.filter(name=name).exists():
        raise Refused(409, f"There is an environment {name} already; choose another name.")


def _write(environment: Environment, wanted: Wanted) -> None:
    if problems := faults(wanted):
        raise unsound(problems, f"The environment {wanted.name}")
    there = _meant(wanted)
    profile = wanted.profile
    environment.master = profile.master
    environment.cores = profile.cores
    environment.driver_memory = profile.driver_memory
    environment.executor_memory = profile.executor_memory
    environment.conf = dict(profile.conf)
    environment.masks = wanted.masks
    environment.save()
    environment.meanings.all().delete()
    Meaning.objects.bulk_create(
        Meaning(environment=environment, name=name, connection=there[meant])
        for name, meant in wanted.connections.items()
    )


def _meant(wanted: Wanted) -> dict[str, Connection]:
    rows = Connection.objects.filter(name__in=wanted.connections.values())
    return {connection.name: connection for connection in rows}


def _faults_of_connections(wanted: Wanted) -> list[Problem]:
    found, there = [], _meant(wanted)
    for name, meant in wanted.connections.items():
        at = f"connections.{name[:63]}"
        if not _NAME.fullmatch(name):
            found.append(Problem(None, at, f"{name[:63]!r} can't be the name of a connection."))
        if meant not in there:
            found.append(Problem(None, at, f"There is no connection {meant[:63]}."))
    return found


def _faults_of_masks(masks: list[str]) -> list[Problem]:
    found = []
    if len(masks) > MOST_MASKS:
        found.append(Problem(None, "masks", f"{MOST_MASKS} masked columns are the most."))
    for name in masks[:MOST_MASKS]:
        if not 0 < len(name.strip()) <= MOST_LETTERS:
            at = f"A masked column is named by 1 to {MOST_LETTERS} letters."
            found.append(Problem(None, "masks", at))
        elif not name.strip("*? "):
            found.append(Problem(None, "masks", f"{name} means every column; name some."))
    return found
