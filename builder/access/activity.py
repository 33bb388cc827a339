"""What was done, by whom: one line for each write."""

from typing import Any

from django.contrib.auth.models import User
from django.db.models import Model

from builder.access.models import Activity


def record(user: User | None, verb: str, subject: Model, message: str) -> Activity:
    """Record that `user` (None: Headrace itself) did `verb` to `subject`, in words for people."""
    return Activity.objects.create(
        user=user,
        verb=verb,
        subject=str(subject._meta.model_name),
        subject_id=subject.pk,
        message=message[:500],
    )


def as_json(activity: Activity) -> dict[str, Any]:
    return {
        "at": activity.at,
        "user": activity.user.username if activity.user else None,
        "verb": activity.verb,
        "message": activity.message,
    }
