"""Log in and out, tokens, users and groups, and who is granted which role."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar
from uuid import NAMESPACE_OID, UUID, uuid5

from django.apps import apps
from django.contrib import auth
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest
from django.utils import timezone

from builder.access.activity import record, record_of
from builder.access.lockout import MOST_WRONG, begin_attempt, has_locked
from builder.access.models import Grant, LoginAttempt, Token
from builder.access.origin import address_of
from builder.access.permissions import may, require, require_scope, visible_or_404, with_scopes
from builder.access.roles import SCOPES, Role, Scope
from builder.refused import Refused
from builder.send import send

Row = TypeVar("Row", bound=Model)

# --- Log in and out


def log_in(request: HttpRequest, username: str, password: str) -> User:
    """Begin a browser session.

    Raises Refused: 401 for a wrong name or password, 429 where too many were wrong.
    """
    user = authenticated(request, username, password)
    auth.login(request, user)
    return user


def log_out(request: HttpRequest) -> None:
    """End the browser session, and every websocket that stands on it."""
    user = request.user
    auth.logout(request)
    if isinstance(user, User):
        check_sockets_of([user])


def authenticated(request: HttpRequest, username: str, password: str) -> User:
    """Whoever has this name and password.

    Raises Refused: 401 for a wrong name or password, 429 where too many were wrong.
    """
    attempt = begin_attempt(username, address_of(request))
    user = auth.authenticate(request, username=username, password=password)
    if not isinstance(user, User):
        _record_lock(attempt)
        raise Refused(401, "There is no such user, or the password is another.")
    attempt.delete()
    return user


def _record_lock(attempt: LoginAttempt) -> None:
    for field in has_locked(attempt):
        of = f"the user name {attempt.username}" if field == "username" else attempt.address
        message = f"{MOST_WRONG[field]} wrong passwords for {of}; it is locked out for ten minutes"
        subject = uuid5(NAMESPACE_OID, f"{field} {getattr(attempt, field)}")
        record_of(None, "lock_out", "login", subject, message)


# --- Tokens


def make_token_with_password(
    request: HttpRequest,
    username: str,
    password: str,
    name: str,
    scopes: Iterable[Scope] = SCOPES,
    expires_at: datetime | None = None,
) -> tuple[Token, str]:
    """Make a token for whoever knows the password; answers it and its secret, shown only now."""
    return make_token(authenticated(request, username, password), name, scopes, expires_at)


@transaction.atomic
def make_token(
    user: User, name: str, scopes: Iterable[Scope] = SCOPES, expires_at: datetime | None = None
) -> tuple[Token, str]:
    """Make a token that acts as `user`; answers it and its secret, shown only now.

    Raises Refused (422) where it would have ended already.
    """
    if expires_at is not None and expires_at <= timezone.now():
        raise Refused(422, "The token would have ended already; choose a later time.")
    wanted = [scope for scope in SCOPES if scope in set(scopes)]
    secret = Token.new_secret()
    token = Token.objects.create(
        user=user, name=name, digest=Token.digest_of(secret), scopes=wanted, expires_at=expires_at
    )
    record(user, "add", token, f"{user} made the token {name} with the scopes {', '.join(wanted)}")
    return token, secret


@transaction.atomic
def revoke_token(user: User, token_id: UUID) -> None:
    """Make a token worthless at once, websockets included: one's own, or, with the right, any."""
    require_scope(user, "admin")
    tokens = Token.objects.select_related("user")
    if not may(user, "delete", Token):
        tokens = tokens.filter(user=user)
    token = tokens.filter(pk=token_id).first()
    if token is None:
        raise Http404
    record(user, "delete", token, f"{user} revoked the token {token.name} of {token.user}")
    owner = token.user
    token.delete()
    transaction.on_commit(lambda: check_sockets_of([owner]))


def user_of_token(secret: str) -> User | None:
    """Whose token this is, with its scopes; None where it is nobody's, or not any more."""
    token = Token.objects.select_related("user").filter(digest=Token.digest_of(secret)).first()
    now = timezone.now()
    if token is None or not token.user.is_active or token.has_ended(now):
        return None
    # Once a minute is enough to see which tokens are still in use.
    if token.used_at is None or (now - token.used_at).total_seconds() > 60:
        Token.objects.filter(pk=token.pk).update(used_at=now)
    return with_scopes(token.user, token.scopes)


# --- Grants


@dataclass(frozen=True)
class Wanted:
    """A grant as somebody wants it: to a user or a group; without a place, on everything."""

    role: Role
    user: str | None = None
    group: str | None = None
    folder: str = ""
    pipeline: UUID | None = None


@transaction.atomic
def grant(user: User, wanted: Wanted) -> Grant:
    """Give somebody a role; who has it already keeps it.

    Raises Refused: 403 where `user` is no admin of what it is on, 422 where it is not to one
    user or group that is there, or on more than one place.
    """
    place = {"folder": wanted.folder, "pipeline": _pipeline(user, wanted.pipeline)}
    # Before anything is said about which users there are.
    require(user, "add", Grant(**place))
    holder = {
        "user": _named(User.objects.filter(username=wanted.user), "user", wanted.user),
        "group": _named(Group.objects.filter(name=wanted.group), "group", wanted.group),
    }
    made = Grant(role=wanted.role, granted_by=user, **place, **holder)
    try:
        made.clean()
    except ValidationError as error:
        raise Refused(422, " ".join(error.messages)) from None
    if there := Grant.objects.filter(role=wanted.role, **place, **holder).first():
        return there
    made.save()
    _record_grant(user, "grant", made, f"{user} granted {made}")
    return made


@transaction.atomic
def revoke(user: User, grant_id: UUID) -> None:
    """Take a role away again; websockets that stand on it close."""
    found = visible_or_404(user, Grant.objects.select_related("pipeline"), pk=grant_id)
    require(user, "delete", found)
    _record_grant(user, "revoke", found, f"{user} revoked {found}")
    found.delete()


def _pipeline(user: User, pipeline_id: UUID | None) -> Any:
    rows = apps.get_model("pipelines", "Pipeline").objects.all()
    return None if pipeline_id is None else visible_or_404(user, rows, pk=pipeline_id)


def _named(rows: QuerySet[Row], what: str, name: str | None) -> Row | None:
    row = rows.first() if name else None
    if name and row is None:
        raise Refused(422, f"There is no {what} {name}.")
    return row


def _record_grant(user: User, verb: str, changed: Grant, message: str) -> None:
    # Those on a pipeline are a part of its history.
    record(user, verb, changed.pipeline or changed, message)
    holders = [changed.user] if changed.user else _members(changed.group)
    transaction.on_commit(lambda: check_sockets_of(holders))


# --- Users and groups

Change = Literal["add", "change", "delete"]


@transaction.atomic
def save_user(user: User, changed: User) -> None:
    """Make or change a user. Raises Refused (403) for a superuser where `user` is none."""
    verb: Change = "add" if changed.pk is None else "change"
    require(user, verb, User)
    _protect_superusers(user, changed)
    changed.save()
    _user_changed(user, verb, changed)


@transaction.atomic
def set_groups(user: User, changed: User, groups: Iterable[Group]) -> None:
    """Say which groups a user is in, and so which of their roles they have."""
    require(user, "change", User)
    before = set(changed.groups.all())
    changed.groups.set(groups)
    if before != set(changed.groups.all()):
        names = ", ".join(group.name for group in changed.groups.order_by("name")) or "no group"
        _user_changed(user, "change", changed, f"{user} put the user {changed} into {names}")


@transaction.atomic
def set_password(user: User, changed: User, password: str | None) -> None:
    """Give a user, or oneself, another password; None lets nobody in by password."""
    if user.pk != changed.pk:
        require(user, "change", User)
        _protect_superusers(user, changed)
    changed.set_password(password)
    changed.save()
    _user_changed(user, "change", changed, f"{user} changed the password of {changed}")


@transaction.atomic
def delete_user(user: User, deleted: User) -> None:
    """Delete a user with their tokens and grants; what they made and did stays."""
    require(user, "delete", User)
    _protect_superusers(user, deleted)
    _user_changed(user, "delete", deleted)
    deleted.delete()


@transaction.atomic
def save_group(user: User, changed: Group) -> None:
    """Make or rename a group."""
    verb: Change = "add" if changed.pk is None else "change"
    require(user, verb, Group)
    changed.save()
    _record_group(user, verb, changed)


@transaction.atomic
def delete_group(user: User, deleted: Group) -> None:
    """Delete a group; its users lose the roles that it had."""
    require(user, "delete", Group)
    _record_group(user, "delete", deleted)
    members = _members(deleted)
    deleted.delete()
    transaction.on_commit(lambda: check_sockets_of(members))


def _protect_superusers(user: User, changed: User) -> None:
    was = User.objects.filter(pk=changed.pk, is_superuser=True).exists()
    if (was or changed.is_superuser) and not user.is_superuser:
        raise Refused(403, "Only a superuser may make, change or delete superusers.")


def _user_changed(user: User, verb: Change, changed: User, message: str = "") -> None:
    does = {"add": "made", "change": "changed", "delete": "deleted"}[verb]
    subject = uuid5(NAMESPACE_OID, f"user {changed.pk}")
    record_of(user, verb, "user", subject, message or f"{user} {does} the user {changed}")
    # As a copy: a user who is deleted has no id any more by then.
    group = access_group(changed)
    transaction.on_commit(lambda: send([(group, _CHANGED)]))


def _record_group(user: User, verb: Change, changed: Group) -> None:
    does = {"add": "made", "change": "changed", "delete": "deleted"}[verb]
    subject = uuid5(NAMESPACE_OID, f"group {changed.pk}")
    record_of(user, verb, "group", subject, f"{user} {does} the group {changed}")


def _members(group: Group | None) -> list[User]:
    return [] if group is None else list(User.objects.filter(groups=group))


# --- Websockets

_CHANGED = {"type": "access"}


def check_sockets_of(users: Iterable[User]) -> None:
    """Have the users' websockets look at once whether they may still be open."""
    send([(access_group(user), _CHANGED) for user in users])


def access_group(user: User) -> str:
    """The channel group of a user's websockets."""
    return f"access.{user.pk}"
