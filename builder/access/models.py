import hashlib
import secrets
import uuid

from django.conf import settings
from django.db import models


class Token(models.Model):
    """Lets a program act as a user. Only its hash is kept."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} ({self.user})"

    @staticmethod
    def new_secret() -> str:
        """A secret that can't be guessed, so that a plain hash of it is enough."""
        return "hr_" + secrets.token_urlsafe(32)

    @staticmethod
    def digest_of(secret: str) -> str:
        return hashlib.sha256(secret.encode()).hexdigest()


class Activity(models.Model):
    """Something that somebody did, in one sentence. Never changed, and outlives its subject."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    at = models.DateTimeField(auto_now_add=True)
    # None where Headrace itself did it.
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    verb = models.CharField(max_length=30)
    subject = models.CharField(max_length=30)
    subject_id = models.UUIDField()
    message = models.CharField(max_length=500)

    class Meta:
        ordering = ("-at", "-id")
        verbose_name_plural = "activity"
        indexes = (models.Index(fields=("subject_id", "-at")),)

    def __str__(self) -> str:
        return self.message
