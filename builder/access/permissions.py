"""Who may see and do what: the one place that decides.

Whoever is logged in sees everything. Staff, and those to whom the admin gives Django's
permission on the model, may also write.
"""

from typing import Any, Literal, TypeVar

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model, QuerySet
from django.http import Http404

from builder.refused import Refused

Verb = Literal["add", "change", "delete"]
Row = TypeVar("Row", bound=Model)

_DOES = {"add": "make", "change": "change", "delete": "delete"}


def may(user: User | AnonymousUser, verb: Verb, model: type[Model]) -> bool:
    """Whether the user may add, change or delete things of this model."""
    if not user.is_active:
        return False
    meta = model._meta
    return user.is_staff or user.has_perm(f"{meta.app_label}.{verb}_{meta.model_name}")


def require(user: User | AnonymousUser, verb: Verb, model: type[Model]) -> None:
    """Raise Refused (403) unless the user may do this."""
    if not may(user, verb, model):
        name = model._meta.verbose_name_plural
        raise Refused(403, f"You may see {name}, but not {_DOES[verb]} them; ask an administrator.")


def visible(user: User | AnonymousUser, rows: QuerySet[Row]) -> QuerySet[Row]:
    """Those of the rows that the user may see."""
    return rows if user.is_active else rows.none()


def visible_or_404(user: User | AnonymousUser, rows: QuerySet[Row], **lookup: Any) -> Row:
    """The one row that is looked up, if the user may see it. Raises Http404."""
    row = visible(user, rows).filter(**lookup).first()
    if row is None:
        raise Http404
    return row
