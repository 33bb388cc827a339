import hashlib
import secrets
import uuid
from datetime import datetime
from typing import Any, Never

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q

from builder.access.roles import ROLES, SCOPES


class Grant(models.Model):
    """A role that a user or a group has: on everything, on a folder, or on one pipeline."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    role = models.CharField(max_length=20, choices=[(role, role) for role in ROLES])
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="grants"
    )
    group = models.ForeignKey(
        "auth.Group", models.CASCADE, null=True, blank=True, related_name="grants"
    )
    folder = models.CharField(max_length=100, blank=True)
    pipeline = models.ForeignKey(
        "pipelines.Pipeline", models.CASCADE, null=True, blank=True, related_name="grants"
    )
    granted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created_at", "id")
        constraints = (
            models.CheckConstraint(
                condition=Q(user=None, group__isnull=False) | Q(user__isnull=False, group=None),
                name="grant_to_a_user_or_a_group",
            ),
            models.CheckConstraint(
                condition=Q(folder="") | Q(pipeline=None), name="grant_on_one_thing"
            ),
            models.UniqueConstraint(
                fields=("role", "user", "folder"),
                condition=Q(pipeline=None),
                name="one_grant_per_user_and_folder",
            ),
            models.UniqueConstraint(
                fields=("role", "user", "pipeline"), name="one_grant_per_user_and_pipeline"
            ),
            models.UniqueConstraint(
                fields=("role", "group", "folder"),
                condition=Q(pipeline=None),
                name="one_grant_per_group_and_folder",
            ),
            models.UniqueConstraint(
                fields=("role", "group", "pipeline"), name="one_grant_per_group_and_pipeline"
            ),
        )

    def __str__(self) -> str:
        return f"the role {self.role} on {self.place} to {self.user or f'the group {self.group}'}"

    def clean(self) -> None:
        """Say in words what the constraints hold."""
        if (self.user is None) == (self.group is None):
            raise ValidationError("Choose a user or a group, one of them.")
        if self.folder and self.pipeline:
            raise ValidationError("Choose a folder or a pipeline; neither of them for everything.")

    @property
    def on_everything(self) -> bool:
        return not self.folder and self.pipeline_id is None

    @property
    def place(self) -> str:
        """What it is on, as a part of a sentence."""
        if self.pipeline is not None:
            return f"the pipeline {self.pipeline}"
        return f"the folder {self.folder}" if self.folder else "everything"


def all_scopes() -> list[str]:
    return list(SCOPES)


class Token(models.Model):
    """Lets a program act as a user, as far as its scopes go. Only its hash is kept."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    scopes = models.JSONField(default=all_scopes)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    used_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} ({self.user})"

    def has_ended(self, now: datetime) -> bool:
        """Whether its time is over."""
        return self.expires_at is not None and self.expires_at <= now

    @staticmethod
    def new_secret() -> str:
        """A secret that can't be guessed, so that a plain hash of it is enough."""
        return "hr_" + secrets.token_urlsafe(32)

    @staticmethod
    def digest_of(secret: str) -> str:
        return hashlib.sha256(secret.encode()).hexdigest()


class AppendOnly(Exception):
    """Somebody tried to change or delete what was recorded."""

    def __init__(self) -> None:
        super().__init__("Activity is never changed or deleted.")


class _Recorded(models.QuerySet["Activity"]):
    """Rows that are only ever added; the database refuses the rest, too."""

    def update(self, **_: Any) -> Never:
        raise AppendOnly

    def delete(self) -> Never:
        raise AppendOnly

    def bulk_update(self, *_: Any, **__: Any) -> Never:
        raise AppendOnly


class Activity(models.Model):
    """Something that somebody did, in one sentence. Never changed, and outlives its subject."""

    class Via(models.TextChoices):
        SESSION = "session", "in the browser"
        TOKEN = "token", "by a token"
        ADMIN = "admin", "in the admin"
        HEADRACE = "headrace", "by Headrace itself"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    at = models.DateTimeField(auto_now_add=True)
    # None where Headrace itself did it. What was recorded of a user stays when they are deleted.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.DO_NOTHING,
        null=True,
        db_constraint=False,
        related_name="+",
    )
    # What they were called then.
    username = models.CharField(max_length=150, blank=True)
    via = models.CharField(max_length=10, choices=Via.choices, default=Via.HEADRACE)
    address = models.GenericIPAddressField(null=True)
    verb = models.CharField(max_length=30)
    subject = models.CharField(max_length=30)
    subject_id = models.UUIDField()
    message = models.CharField(max_length=500)

    objects = _Recorded.as_manager()

    class Meta:
        ordering = ("-at", "-id")
        verbose_name_plural = "activity"
        indexes = (models.Index(fields=("subject_id", "-at")),)

    def __str__(self) -> str:
        return self.message

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Add it. Raises AppendOnly where it is there already."""
        if not self._state.adding:
            raise AppendOnly
        super().save(*args, **kwargs)

    def delete(self, *_: Any, **__: Any) -> Never:
        raise AppendOnly


class LoginAttempt(models.Model):
    """A password that is being looked at, or was wrong."""

    username = models.CharField(max_length=150)
    address = models.GenericIPAddressField(null=True)
    at = models.DateTimeField()

    class Meta:
        indexes = (
            models.Index(fields=("username", "at")),
            models.Index(fields=("address", "at")),
            models.Index(fields=("at",)),
        )

    def __str__(self) -> str:
        return f"{self.username} from {self.address}"
