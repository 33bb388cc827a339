"""`manage.py supervise`: what the control worker does for deployments, without Celery and Redis."""

import logging
import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import OperationalError, connection

from builder.deployments.reconcile import reconcile, unsettled

log = logging.getLogger(__name__)

LONGEST_WAIT = 30.0


class Command(BaseCommand):
    help = (
        "Bring deployments from what runs to what should run, and take in what jobs say, straight "
        "from the database. May run beside control workers: locks keep them from each other."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--every", type=float, default=5.0, help="seconds from look to look")
        parser.add_argument("--once", action="store_true", help="look once, then end")

    def handle(self, *_: Any, every: float, once: bool, **__: Any) -> None:
        if once:
            look()
            return
        asked_to_end = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: asked_to_end.set())
        wait = every
        while not asked_to_end.is_set():
            try:
                look()
                wait = every
            except OperationalError as error:
                wait = min(2 * wait, LONGEST_WAIT)
                log.warning("The database is away; trying again in %.0f s: %s", wait, error)
                connection.close()
            asked_to_end.wait(wait)


def look() -> None:
    """Look after every deployment once."""
    for id_ in unsettled():
        reconcile(id_)
