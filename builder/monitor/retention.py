"""What is forgotten when: runs, metrics, logs, checkpoints, topics and keys that nobody needs.

Each removal is found by looking, may be repeated at any time, and looks again before it removes
anything that a deployment could meanwhile have come to need. Activity is never forgotten.
"""

import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from builder.connections.kafka import Unreachable, delete_topics, topic_partitions
from builder.connections.models import Connection
from builder.deployments.checkpoints import unused
from builder.deployments.disk import used
from builder.deployments.models import Deployment, DeployRequest, Run
from builder.deployments.process import is_alive
from builder.environments.models import meant_by
from builder.monitor.blocks import LEVELS, roll_up
from builder.monitor.models import Leftover, Metric, MetricBlock, Retention

log = logging.getLogger(__name__)

LOGS = ("log.txt", "log.1.txt", "events.jsonl", "events.1.jsonl")
# Beside the checkpoints: those that are being removed, out of the way at once.
REMOVED = "removed"
# A folder without a deployment may be one that is just being made.
SETTLED = timedelta(hours=1)


@dataclass(frozen=True)
class Removal:
    """Something to forget: in words, how many bytes it frees, and how."""

    what: str
    bytes: int
    remove: Callable[[], object]


def clean(*, dry_run: bool = False) -> Iterator[Removal]:
    """Remove what is past its time, and yield each as it goes; or only say what would go."""
    for removal in removals(timezone.now()):
        if not dry_run:
            try:
                removal.remove()
            except (OSError, Unreachable) as error:
                # It is found again the next time.
                log.warning("%s stays for now: %s", removal.what, error)
                continue
        yield removal


def removals(now: datetime) -> Iterator[Removal]:
    """All that is past its time."""
    limits = Retention.current()
    yield from _points(limits, now)
    yield from _keys(now - timedelta(days=limits.key_days))
    for deployment in Deployment.objects.select_related("pipeline"):
        yield from _runs(deployment, limits)
        yield from _logs(deployment, limits, now)
        yield from _checkpoints(deployment, now - timedelta(days=limits.checkpoint_days))
    yield from _folders(now - SETTLED)
    yield from _topics()


def note_topics(sender: type[Deployment], instance: Deployment, **_: object) -> None:
    """Note whose internal topics are to go, as a deployment is deleted (`pre_delete`)."""
    meant = meant_by(instance.environment)
    for name in {topic["connection"] for topic in instance.topics}:
        Leftover.objects.get_or_create(name=instance.name, connection=meant.get(name, name))


def _points(limits: Retention, now: datetime) -> Iterator[Removal]:
    seconds = Metric.objects.filter(at__lt=now - timedelta(minutes=limits.metrics_1s_minutes))
    if count := seconds.count():
        yield Removal(f"{count} points of metrics", 0, partial(_remove_seconds, seconds))
    for level in LEVELS:
        limit = now - timedelta(days=getattr(limits, level.kept), seconds=level.span)
        blocks = MetricBlock.objects.filter(every=level.every, at__lt=limit)
        if count := blocks.count():
            what = f"{count} blocks of metrics, a point every {level.every} seconds"
            yield Removal(what, 0, blocks.delete)


def _remove_seconds(rows: QuerySet[Metric]) -> None:
    # Nothing goes that has not been brought together.
    roll_up()
    rows.delete()


def _keys(limit: datetime) -> Iterator[Removal]:
    rows = DeployRequest.objects.filter(created_at__lt=limit)
    if count := rows.count():
        yield Removal(f"{count} idempotency keys", 0, rows.delete)


# --- Runs and their logs


def _runs(deployment: Deployment, limits: Retention) -> Iterator[Removal]:
    runs = list(deployment.runs.all())
    # What a roll-back would go back to.
    before = next(
        (r for r in runs if r.running_at and r.version_id not in (None, deployment.version_id)),
        None,
    )
    for run in runs[limits.runs_kept :]:
        if run.ended_at is not None and run != before:
            run.deployment = deployment
            what = f"Run {run.epoch} of {deployment}"
            yield Removal(what, used(run.folder), partial(_remove_run, run))


def _remove_run(run: Run) -> None:
    if is_alive(run):
        return
    # The row last: as long as it is there the folder is found.
    _remove_folder(run.folder)
    run.delete()


def _logs(deployment: Deployment, limits: Retention, now: datetime) -> Iterator[Removal]:
    total = 0
    for run in deployment.runs.all()[: limits.runs_kept]:
        run.deployment = deployment
        files = [path for name in LOGS if (path := run.folder / name).is_file()]
        size = sum(path.stat().st_size for path in files)
        total += size
        if run.ended_at is None or not files:
            continue
        is_old = run.ended_at < now - timedelta(days=limits.log_days)
        if is_old or total > limits.log_megabytes * 1_000_000:
            total -= size
            yield Removal(
                f"The log of run {run.epoch} of {deployment}", size, partial(_unlink, files)
            )


def _unlink(files: list[Path]) -> None:
    for path in files:
        path.unlink(missing_ok=True)


# --- Checkpoints


def _checkpoints(deployment: Deployment, limit: datetime) -> Iterator[Removal]:
    removed = deployment.folder / REMOVED
    if removed.exists():
        what = f"Checkpoints of {deployment} that were to go before"
        yield Removal(what, used(removed), partial(_remove_folder, removed))
    for folder in unused(deployment):
        if _changed(folder) < limit.timestamp():
            what = f"The checkpoint {folder.name} of {deployment}, which nothing uses any more"
            remove = partial(_remove_checkpoint, deployment.pk, folder.name, limit)
            yield Removal(what, used(folder), remove)


def _changed(folder: Path) -> float:
    """When something in the folder last changed; what goes meanwhile is no change."""
    last = 0.0
    for path in (folder, *folder.rglob("*")):
        with suppress(FileNotFoundError):
            last = max(last, path.lstat().st_mtime)
    return last


def _remove_checkpoint(deployment_id: UUID, name: str, limit: datetime) -> None:
    removed: Path | None = None
    with transaction.atomic():
        deployment = Deployment.objects.select_for_update().filter(pk=deployment_id).first()
        if deployment is None:
            return
        # Whoever wants another version waits for this lock, and then finds the checkpoint gone.
        for folder in unused(deployment):
            if folder.name == name and _changed(folder) < limit.timestamp():
                removed = deployment.folder / REMOVED
                removed.mkdir(exist_ok=True)
                folder.rename(removed / f"{name}.{uuid4().hex}")
    if removed is not None:
        _remove_folder(removed)


# --- What deployments left that are no more


def _folders(limit: datetime) -> Iterator[Removal]:
    root: Path = settings.HEADRACE_DATA / "deployments"
    there = {str(id_) for id_ in Deployment.objects.values_list("pk", flat=True)}
    for folder in sorted(root.iterdir()) if root.exists() else []:
        # Ours are named by ids; a job that still ends there writes to its events.
        is_left = _is_id(folder.name) and folder.name not in there
        if is_left and _changed(folder) < limit.timestamp():
            what = f"The folder of {folder.name}, a deployment that is no more"
            yield Removal(what, used(folder), partial(_remove_folder, folder))


def _is_id(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False


def _topics() -> Iterator[Removal]:
    for leftover in Leftover.objects.all():
        connection = Connection.objects.filter(name=leftover.connection).first()
        if connection is None or Deployment.objects.filter(name=leftover.name).exists():
            what = f"The note of {leftover}, which is used again or can't be reached any more"
            yield Removal(what, 0, leftover.delete)
            continue
        prefix = f"headrace.{leftover.name}."
        try:
            there = topic_partitions(connection)
        except Unreachable as error:
            log.warning("The internal topics of %s stay for now: %s", leftover.name, error)
            continue
        count = sum(topic.startswith(prefix) for topic in there)
        what = f"{count} internal topics of {leftover.name}, which is no more"
        yield Removal(what, 0, partial(_remove_topics, leftover, connection, prefix))


def _remove_topics(leftover: Leftover, connection: Connection, prefix: str) -> None:
    if Deployment.objects.filter(name=leftover.name).exists():
        return
    delete_topics(connection, prefix)
    leftover.delete()


def _remove_folder(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
