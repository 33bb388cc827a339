"""`manage.py clean`: forget at once what is past its time."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from builder.deployments.disk import in_words
from builder.monitor.retention import clean


class Command(BaseCommand):
    help = "Remove what is kept no longer than the retention says; the control worker does too."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only say what would go")

    def handle(self, *_: Any, dry_run: bool, **__: Any) -> None:
        count = total = 0
        for removal in clean(dry_run=dry_run):
            count, total = count + 1, total + removal.bytes
            size = f" ({in_words(removal.bytes)})" if removal.bytes else ""
            self.stdout.write(f"{removal.what}{size}")
        verb = "would be freed" if dry_run else "freed"
        self.stdout.write(f"{count} removals, {in_words(total)} {verb}.")
