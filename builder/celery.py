"""The Celery app: the queues `control` (reconcile, follow, look; with beat), `spark` (analyze) and
`rehearsal`: what people try can neither hold up nor bring down what tells them of columns; and
`outgoing`, for what waits for other people's servers."""

import logging
import os
from typing import Any

from celery import Celery
from celery.signals import heartbeat_sent, worker_ready
from redis.exceptions import RedisError

from builder.queues import WITH_SPARK

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "builder.settings")

log = logging.getLogger(__name__)

app = Celery("builder")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

# How long a worker counts as there after its last heartbeat. A solo worker sends none while
# it works on a task, and the first task of the spark worker starts a JVM.
PRESENT_SECONDS = 60


@worker_ready.connect
def begin(sender: Any, **_: Any) -> None:
    """Give a worker that has just come what can't wait until somebody asks for it."""
    note_presence(sender)
    queues = app.amqp.queues.consume_from
    if "control" in queues:
        # Nobody knows what happened while no worker was there.
        for task in ("deployments.tasks.reconcile_all", "monitor.tasks.follow_all"):
            app.send_task(f"builder.{task}", queue="control", expires=30)
    for queue in (q for q in WITH_SPARK if q in queues):
        # People see columns before they try anything.
        after = 10 if queue == "rehearsal" else 0
        warm = "builder.pipelines.tasks.warm"
        app.send_task(warm, (queue,), queue=queue, countdown=after, expires=60)


@heartbeat_sent.connect
def note_presence(sender: Any, **_: Any) -> None:
    """Tell the web process which queues have a worker that can answer."""
    from django.core.cache import cache

    from builder.pipelines.tasks import is_warm

    for queue in app.amqp.queues.consume_from:
        # Until Spark stands, who asks would only wait in vain.
        if queue not in WITH_SPARK or is_warm.is_set():
            try:
                cache.set(f"worker:{queue}", True, PRESENT_SECONDS)
            except RedisError as error:
                log.warning("Redis does not know that a worker is here: %s", error)
