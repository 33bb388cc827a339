"""Log in and out, make and revoke tokens."""

from uuid import NAMESPACE_OID, UUID, uuid5

from django.contrib import auth
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from builder.access.activity import record
from builder.access.models import Activity, Token
from builder.access.permissions import may, visible_or_404
from builder.refused import Refused
from builder.send import send


def log_in(request: HttpRequest, username: str, password: str) -> User:
    """Begin a browser session. Raises Refused (401) for a wrong name or password."""
    user = _authenticated(request, username, password)
    auth.login(request, user)
    return user


def log_out(request: HttpRequest) -> None:
    """End the browser session, and every websocket that stands on it."""
    user = request.user
    auth.logout(request)
    if user.is_authenticated:
        _check_sockets_of(user)


def make_token_with_password(
    request: HttpRequest, username: str, password: str, name: str
) -> tuple[Token, str]:
    """Make a token for whoever knows the password; answers it and its secret, shown only now."""
    return make_token(_authenticated(request, username, password), name)


@transaction.atomic
def make_token(user: User, name: str) -> tuple[Token, str]:
    """Make a token that acts as `user`; answers it and its secret, shown only now."""
    secret = Token.new_secret()
    token = Token.objects.create(user=user, name=name, digest=Token.digest_of(secret))
    record(user, "add", token, f"{user} made the token {name}")
    return token, secret


@transaction.atomic
def revoke_token(user: User, token_id: UUID) -> None:
    """Make a token worthless at once, websockets included: one's own, or, with the right, any."""
    tokens = Token.objects.select_related("user")
    if not may(user, "delete", Token):
        tokens = tokens.filter(user=user)
    token = visible_or_404(user, tokens, pk=token_id)
    record(user, "delete", token, f"{user} revoked the token {token.name} of {token.user}")
    owner = token.user
    token.delete()
    transaction.on_commit(lambda: _check_sockets_of(owner))


@transaction.atomic
def user_changed(user: User, changed: User) -> None:
    """Record that the admin changed a user, and close the websockets that lost their right."""
    Activity.objects.create(
        user=user,
        verb="change",
        subject="user",
        subject_id=uuid5(NAMESPACE_OID, f"user {changed.pk}"),
        message=f"{user} changed the user {changed}",
    )
    transaction.on_commit(lambda: _check_sockets_of(changed))


def user_of_token(secret: str) -> User | None:
    """Whose token this is, None where it is nobody's (any more)."""
    token = Token.objects.select_related("user").filter(digest=Token.digest_of(secret)).first()
    if token is None or not token.user.is_active:
        return None
    now = timezone.now()
    # Once a minute is enough to see which tokens are still in use.
    if token.used_at is None or (now - token.used_at).total_seconds() > 60:
        Token.objects.filter(pk=token.pk).update(used_at=now)
    return token.user


def _authenticated(request: HttpRequest, username: str, password: str) -> User:
    user = auth.authenticate(request, username=username, password=password)
    if user is None:
        raise Refused(401, "There is no such user, or the password is another.")
    return user


def _check_sockets_of(user: User) -> None:
    send([(access_group(user), {"type": "access.changed"})])


def access_group(user: User) -> str:
    """The channel group of a user's websockets."""
    return f"access.{user.pk}"
