from typing import Any

from django.core.management.base import BaseCommand, CommandError

from builder.alerts.actions import renew_encryption as renew_webhooks
from builder.connections.actions import renew_encryption
from builder.connections.sealed import KeysElsewhere, NotReadable, add_key


class Command(BaseCommand):
    """Encrypt the secrets of all connections and webhooks by a new key."""

    help = (
        "Make a new key and encrypt the secrets of all connections by it. Where the keys stand in "
        "HEADRACE_SECRETS_KEY, put the new one before the others first; take those off afterwards."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            add_key()
        except KeysElsewhere:
            self.stdout.write("The first key of HEADRACE_SECRETS_KEY is used.")
        try:
            count, webhooks = renew_encryption(), renew_webhooks()
        except NotReadable as error:
            raise CommandError(f"A secret can't be read. {error}") from None
        self.stdout.write(
            f"The secrets of {count} connections and {webhooks} webhooks are encrypted anew."
        )
