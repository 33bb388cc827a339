"""Who may see and do what: the one place that decides, by the table in `roles`.

Superusers may do everything. Everybody else may do what the roles include that they, or
their groups, were granted. A program that comes with a token may do at most what the token's
scopes let through.
"""

from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.apps import apps
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model, Q, QuerySet
from django.http import Http404

from builder.access.models import Grant
from builder.access.roles import FOR_ALL, LIES_IN, WITH_PLACE, Right, Scope, Verb, right_to
from builder.refused import Refused

Row = TypeVar("Row", bound=Model)
Who = User | AnonymousUser

_SAID = {"add": "make", "view": "see"}


class Place(NamedTuple):
    """Where something lies: in a folder (empty for none), in a pipeline, or in both."""

    folder: str
    pipeline: UUID | None


def with_scopes(user: User, scopes: list[Scope]) -> User:
    """The user, as a token with these scopes acts for them."""
    user.token_scopes = frozenset(scopes)  # type: ignore[attr-defined]
    return user


def may(user: Who, verb: Verb, what: type[Model] | Model) -> bool:
    """Whether the user may do this with a row, or with all rows of a model."""
    right = right_to(verb, _name(what))
    if not _comes_through(user, right):
        return False
    if user.is_superuser:
        return True
    grants = _grants(user, right)
    if right.somewhere:
        return bool(grants)
    place = _place(what)
    return any(_covers(grant, place) for grant in grants)


def may_somewhere(user: Who, verb: Verb, model: type[Model]) -> bool:
    """Whether there is any place where the user may do this."""
    right = right_to(verb, _name(model))
    return _comes_through(user, right) and (user.is_superuser or bool(_grants(user, right)))


def require(user: Who, verb: Verb, what: type[Model] | Model) -> None:
    """Raise Refused (403) unless the user may do this."""
    if not may(user, verb, what):
        raise _refusal(user, verb, what)


def require_somewhere(user: Who, verb: Verb, model: type[Model]) -> None:
    """Raise Refused (403) unless there is a place where the user may do this."""
    if not may_somewhere(user, verb, model):
        raise _refusal(user, verb, model)


def require_scope(user: Who, scope: Scope) -> None:
    """Raise Refused (403) where a program acts for the user, with a token that lacks the scope."""
    scopes = getattr(user, "token_scopes", None)
    if scopes is not None and scope not in scopes:
        raise Refused(403, f"This token may not do so; it takes one with the scope {scope}.")


def visible(user: Who, rows: QuerySet[Row]) -> QuerySet[Row]:
    """Those of the rows that the user may see."""
    right = right_to("view", _name(rows.model))
    if not _comes_through(user, right):
        return rows.none()
    if user.is_superuser:
        return rows
    grants = _grants(user, right)
    if any(grant.on_everything or right.somewhere for grant in grants):
        return rows
    path = LIES_IN.get(_name(rows.model))
    if path is None or not grants:
        return rows.none()
    folders = [grant.folder for grant in grants if grant.folder]
    inside = Q(folder__in=folders) | Q(pk__in=[g.pipeline_id for g in grants if g.pipeline_id])
    pipelines = apps.get_model("pipelines", "Pipeline").objects.filter(inside)
    found = Q(**{f"{path}__in": pipelines})
    if _name(rows.model) in WITH_PLACE:
        found |= Q(folder__in=folders)
    if _name(rows.model) in FOR_ALL:
        found |= Q(folder="", **{path: None})
    return rows.filter(found)


def visible_or_404(user: Who, rows: QuerySet[Row], **lookup: Any) -> Row:
    """The one row that is looked up, if the user may see it. Raises Http404."""
    row = visible(user, rows).filter(**lookup).first()
    if row is None:
        raise Http404
    return row


def grants_of(user: User) -> QuerySet[Grant]:
    """What the user was granted, personally and by their groups."""
    mine = Q(user=user.pk) | Q(group__in=user.groups.all())
    return Grant.objects.filter(mine).select_related("pipeline", "group")


def _grants(user: Who, right: Right) -> list[Grant]:
    if not isinstance(user, User) or user.pk is None:
        return []
    return list(grants_of(user).filter(role__in=right.roles))


def _comes_through(user: Who, right: Right) -> bool:
    scopes = getattr(user, "token_scopes", None)
    return user.is_active and (scopes is None or not right.scopes.isdisjoint(scopes))


def _covers(grant: Grant, place: Place | None) -> bool:
    if grant.on_everything or place is None:
        return grant.on_everything
    if grant.pipeline_id:
        return grant.pipeline_id == place.pipeline
    return grant.folder == place.folder


def _place(what: Any) -> Place | None:
    """Where a row lies; None for what belongs to the installation."""
    path = None if isinstance(what, type) else LIES_IN.get(_name(what))
    if path is None:
        return None
    if _name(what) in WITH_PLACE and not what.pipeline:
        return Place(what.folder, None) if what.folder else None
    pipeline = what
    if path != "pk":
        for name in path.split("__"):
            pipeline = getattr(pipeline, name)
    return Place(pipeline.folder, pipeline.pk)


def _name(what: type[Model] | Model) -> str:
    return str(what._meta.model_name)


def _refusal(user: Who, verb: Verb, what: type[Model] | Model) -> Refused:
    does = f"{_SAID.get(verb, verb)} {what._meta.verbose_name_plural}"
    right = right_to(verb, _name(what))
    if user.is_active and not _comes_through(user, right):
        scopes = " or ".join(sorted(right.scopes))
        return Refused(403, f"This token may not {does}; it takes one with the scope {scopes}.")
    return Refused(403, f"You may not {does} here; ask an administrator for the right.")
