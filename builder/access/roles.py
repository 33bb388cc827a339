"""What each role may do, and what a token's scopes let through: the one table of both."""

from dataclasses import dataclass
from typing import Literal, get_args

Role = Literal["viewer", "editor", "operator", "admin", "author_python"]
Scope = Literal["read", "edit", "operate", "admin"]
# `add`, `change`, `delete` and `view` are Django's; the others are said in the table.
Verb = Literal[
    "view", "add", "change", "delete", "rehearse", "run", "write Python in", "read topics of",
    "make topics in", "write records to", "replay dead letters of", "acknowledge", "silence",
    "share",
]  # fmt: skip

ROLES: tuple[Role, ...] = get_args(Role)
SCOPES: tuple[Scope, ...] = get_args(Scope)


@dataclass(frozen=True)
class Right:
    """Whose role includes it, and which scopes of a token, any of them, let it through.

    It is asked of the pipeline that it concerns; one that concerns none must be held on
    everything, or, where `somewhere` is true, on anything at all.
    """

    roles: frozenset[Role]
    scopes: frozenset[Scope]
    somewhere: bool = False


def _right(roles: str, scopes: str, somewhere: bool = False) -> Right:
    return Right(
        frozenset(role for role in ROLES if role in roles.split()),
        frozenset(scope for scope in SCOPES if scope in scopes.split()),
        somewhere,
    )


_SEE = _right("viewer editor operator admin", "read edit operate admin")
_SEE_SOMEWHERE = _right("viewer editor operator admin", "read edit operate admin", True)
_DRAW = _right("editor admin", "edit")
_OPERATE = _right("operator admin", "operate")

RIGHTS: dict[str, Right] = {
    "view pipeline": _SEE,
    "view version": _SEE,
    "view testcase": _SEE,
    "view deployment": _SEE,
    "view run": _SEE,
    "view replay": _SEE,
    "add pipeline": _DRAW,
    "change pipeline": _DRAW,
    "delete pipeline": _DRAW,
    # Trying what is drawn touches nothing outside Headrace.
    "run testcase": _right("viewer editor operator admin", "edit operate"),
    "rehearse pipeline": _right("viewer editor operator admin", "edit operate", True),
    # It runs with the rights of the job's process, so no other role brings it along.
    "write Python in pipeline": _right("author_python admin", "edit operate"),
    "change deployment": _OPERATE,
    "view alert": _SEE,
    "acknowledge alert": _OPERATE,
    "view alertrule": _SEE,
    "add alertrule": _OPERATE,
    "change alertrule": _OPERATE,
    "delete alertrule": _OPERATE,
    "silence alertrule": _OPERATE,
    # To make, change or delete one that is on more than a pipeline.
    "share alertrule": _right("admin", "admin"),
    "replay dead letters of deployment": _OPERATE,
    "view connection": _SEE_SOMEWHERE,
    "view environment": _SEE_SOMEWHERE,
    "read topics of connection": _right(
        "editor operator admin", "read edit operate admin", somewhere=True
    ),
    "make topics in connection": _right("operator admin", "operate", somewhere=True),
    "write records to connection": _right("operator admin", "operate", somewhere=True),
}

# Connections, environments, grants, users, groups, others' tokens, and all that is not named.
ADMINISTER = _right("admin", "admin")

# How a row leads to the pipeline that it belongs to. Others belong to the installation.
LIES_IN: dict[str, str] = {
    "pipeline": "pk",
    "version": "pipeline",
    "testcase": "pipeline",
    "deployment": "pipeline",
    "run": "deployment__pipeline",
    "metric": "deployment__pipeline",
    "metricblock": "deployment__pipeline",
    "replay": "deployment__pipeline",
    "grant": "pipeline",
    "alert": "deployment__pipeline",
    "alertrule": "pipeline",
}
# Those that lie in a folder themselves, or on everything, where they name no pipeline.
WITH_PLACE = {"grant", "alertrule"}
# Those of them that whoever sees anything sees where they are on everything.
FOR_ALL = {"alertrule"}


def right_to(verb: str, model_name: str) -> Right:
    """The right to do this with rows of a model."""
    return RIGHTS.get(f"{verb} {model_name}", ADMINISTER)
