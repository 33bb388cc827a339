"""Guessing passwords: how many may be tried."""

from datetime import datetime, timedelta
from math import ceil

from django.db.models import QuerySet
from django.utils import timezone

from builder.access.models import LoginAttempt
from builder.refused import Refused

WITHIN = timedelta(minutes=10)
# Wrong passwords within that time, after which none is looked at any more.
MOST_WRONG = {"username": 10, "address": 50}


def begin_attempt(username: str, address: str | None) -> LoginAttempt:
    """Note that a password is about to be looked at; whoever finds it right deletes the note.

    Noted before it is looked at, so that many at once count as many. Raises Refused (429)
    where too many were wrong.
    """
    now = timezone.now()
    LoginAttempt.objects.filter(at__lt=now - WITHIN).delete()
    attempt = LoginAttempt.objects.create(username=username.lower()[:150], address=address, at=now)
    wait = max(_seconds_to_wait(attempt, field, now) for field in MOST_WRONG)
    if wait:
        # It was not looked at, so it does not make anybody wait any longer.
        attempt.delete()
        minutes = ceil(wait / 60)
        raise Refused(
            429,
            f"Too many wrong passwords; try again in {minutes} minute{'s' if minutes > 1 else ''}.",
            retry_after=wait,
        )
    return attempt


def has_locked(attempt: LoginAttempt) -> list[str]:
    """What is locked out by this wrong password: the user name, the address, both, or nothing."""
    return [
        field
        for field, most in MOST_WRONG.items()
        if (rows := _like(attempt, field)) is not None and rows.count() == most
    ]


def _seconds_to_wait(attempt: LoginAttempt, field: str, now: datetime) -> int:
    rows = _like(attempt, field)
    if rows is None:
        return 0
    most = MOST_WRONG[field]
    others = rows.exclude(pk=attempt.pk).order_by("-at")[most - 1 : most]
    return max((ceil((other.at + WITHIN - now).total_seconds()) for other in others), default=0)


def _like(attempt: LoginAttempt, field: str) -> QuerySet[LoginAttempt] | None:
    value = getattr(attempt, field)
    if value is None:
        return None
    return LoginAttempt.objects.filter(**{field: value, "at__gt": attempt.at - WITHIN})
