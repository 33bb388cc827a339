"""The Celery app: queue `control` (reconcile, follow; with beat) and queue `spark` (analyze)."""

import os
from typing import Any

from celery import Celery
from celery.signals import heartbeat_sent, worker_ready

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "builder.settings")

app = Celery("builder")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

# How long a worker counts as there after its last heartbeat. A solo worker sends none while
# it works on a task, and the first task of the spark worker starts a JVM.
PRESENT_SECONDS = 60


@worker_ready.connect
def catch_up(sender: Any, **_: Any) -> None:
    """Reconcile and follow at once: nobody knows what happened while no worker was there."""
    note_presence(sender)
    for task in ("builder.deployments.tasks.reconcile_all", "builder.monitor.tasks.follow_all"):
        app.send_task(task, queue="control", expires=30)


@heartbeat_sent.connect
def note_presence(sender: Any, **_: Any) -> None:
    """Tell the web process which queues have a worker."""
    from django.core.cache import cache

    for queue in app.amqp.queues.consume_from:
        cache.set(f"worker:{queue}", True, PRESENT_SECONDS)
