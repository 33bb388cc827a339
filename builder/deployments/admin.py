from collections.abc import Callable
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from builder.deployments import actions
from builder.deployments.disk import in_words, usage
from builder.deployments.log_tail import tail
from builder.deployments.models import Deployment, DeployRequest, Run
from builder.read_only_admin import ReadOnlyAdmin
from builder.request import user_of

LOG_LINES = 300
Action = Callable[[User, UUID], Deployment]


@admin.register(Deployment)
class DeploymentAdmin(ReadOnlyAdmin):
    list_display = (
        "pipeline",
        "environment",
        "version",
        "desired",
        "state",
        "message",
        "updated_at",
    )
    list_filter = ("state", "desired", "environment")
    search_fields = ("pipeline__name",)
    readonly_fields = ("disk",)
    actions = ("start", "stop", "restart", "rewind", "skip", "roll_back")

    @admin.display(description="disk")
    def disk(self, deployment: Deployment) -> str:
        return ", ".join(f"{name} {in_words(size)}" for name, size in usage(deployment).items())

    @admin.action(description="Start", permissions=("run",))
    def start(self, request: HttpRequest, chosen: QuerySet[Deployment]) -> None:
        self._each(request, chosen, actions.start)

    @admin.action(description="Stop", permissions=("run",))
    def stop(self, request: HttpRequest, chosen: QuerySet[Deployment]) -> None:
        self._each(request, chosen, actions.stop)

    @admin.action(description="Restart", permissions=("run",))
    def restart(self, request: HttpRequest, chosen: QuerySet[Deployment]) -> None:
        self._each(request, chosen, actions.restart)

    @admin.action(description="Rewind to the earliest rows, afresh", permissions=("run",))
    def rewind(self, request: HttpRequest, chosen: QuerySet[Deployment]) -> None:
        self._each(request, chosen, lambda user, id_: actions.rewind(user, id_, "earliest"))

    @admin.action(description="Go on from the newest rows, afresh", permissions=("run",))
    def skip(self, request: HttpRequest, chosen: QuerySet[Deployment]) -> None:
        self._each(request, chosen, lambda user, id_: actions.rewind(user, id_, "latest"))

    @admin.action(description="Roll back to the version before", permissions=("run",))
    def roll_back(self, request: HttpRequest, chosen: QuerySet[Deployment]) -> None:
        self._each(request, chosen, actions.roll_back)

    def has_run_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("deployments.change_deployment")

    def _each(self, request: HttpRequest, chosen: QuerySet[Deployment], action: Action) -> None:
        for deployment in chosen:
            done = action(user_of(request), deployment.pk)
            messages.info(request, f"{done}: {done.message}")


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = (
        "deployment",
        "epoch",
        "version",
        "state",
        "message",
        "pid",
        "started_at",
        "ended_at",
    )
    list_filter = ("state", "deployment")
    readonly_fields = ("log",)

    @admin.display(description="the end of its log")
    def log(self, run: Run) -> str:
        lines, _ = tail(run.folder / "log.txt", LOG_LINES)
        return format_html("<pre style='white-space: pre-wrap'>{}</pre>", "\n".join(lines))


@admin.register(DeployRequest)
class DeployRequestAdmin(ReadOnlyAdmin):
    list_display = ("key", "user", "deployment", "created_at")
