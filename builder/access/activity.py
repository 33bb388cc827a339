"""What was done, by whom and from where: one line for each write."""

import csv
import io
import json
from typing import Any, Literal
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Model, Q, QuerySet
from django.http import HttpResponse

from builder.access.models import Activity
from builder.access.origin import origin

Export = Literal["csv", "jsonl"]

_COLUMNS = ("at", "user", "via", "address", "verb", "subject", "message")
# A spreadsheet takes a cell that begins so for a formula, and runs it.
_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def record(user: User | None, verb: str, subject: Model, message: str) -> Activity:
    """Record that `user` (None: Headrace itself) did `verb` to `subject`, in words for people."""
    return record_of(user, verb, str(subject._meta.model_name), subject.pk, message)


def record_of(
    user: User | None, verb: str, subject: str, subject_id: UUID, message: str
) -> Activity:
    """Record as `record` does, of a subject that is no row with a UUID."""
    came = origin()
    return Activity.objects.create(
        user=user,
        username=user.get_username() if user else "",
        via=came.via,
        address=came.address,
        verb=verb,
        subject=subject,
        subject_id=subject_id,
        message=message[:500],
    )


def timeline(pipeline: Any) -> QuerySet[Activity]:
    """All that was done to a pipeline, its versions, test cases and deployments."""
    parts = [pipeline.versions, pipeline.test_cases, pipeline.deployments]
    found = Q(subject_id=pipeline.pk)
    for part in parts:
        found |= Q(subject_id__in=part.order_by().values("pk"))
    return Activity.objects.filter(found)


def as_json(activity: Activity) -> dict[str, Any]:
    return {
        "at": activity.at,
        "user": activity.username or None,
        "verb": activity.verb,
        "message": activity.message,
        "via": activity.via,
        "address": activity.address,
    }


def exported(rows: QuerySet[Activity], format: Export, name: str) -> HttpResponse:
    """The rows as a file, oldest first, each with all that is known of it."""
    oldest_first = rows.order_by("at", "id").iterator()
    lines = [{**as_json(a), "at": a.at.isoformat(), "subject": a.subject} for a in oldest_first]
    text, kind = (
        (_as_csv(lines), "text/csv")
        if format == "csv"
        else ("".join(f"{json.dumps(line)}\n" for line in lines), "application/x-ndjson")
    )
    answer = HttpResponse(text, content_type=f"{kind}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}.{format}"'
    return answer


def _as_csv(lines: list[dict[str, Any]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(_COLUMNS)
    writer.writerows([_plain(line[column]) for column in _COLUMNS] for line in lines)
    return file.getvalue()


def _plain(value: Any) -> str:
    """A cell that no spreadsheet takes for a formula."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_BEGINS_FORMULA) else text
