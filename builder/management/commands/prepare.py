import secrets
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand

from builder.connections.actions import set_local_connection


class Command(BaseCommand):
    """Make an installation ready: tables, an administrator, the connection `local`."""

    help = "Migrate, make the administrator, make or update the connection `local`."

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        self._make_administrator()
        if settings.ENVIRONMENT.kafka:
            set_local_connection(settings.ENVIRONMENT.kafka)

    def _make_administrator(self) -> None:
        name, password = settings.ENVIRONMENT.admin_user, settings.ENVIRONMENT.admin_password
        if User.objects.filter(username=name).exists():
            return
        # One who already looks after this installation may have been renamed.
        if password is None and User.objects.filter(is_superuser=True).exists():
            return
        User.objects.create_superuser(
            name, password=password or (made := secrets.token_urlsafe(12))
        )
        if password is None:
            self.stdout.write(f"Log in as {name} with the password {made} (shown only now).")
