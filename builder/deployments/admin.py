from collections.abc import Callable
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from builder.deployments import actions
from builder.deployments.disk import in_words, usage
from builder.deployments.models import Deployment, DeployRequest, Run
from builder.read_only_admin import ReadOnlyAdmin
from builder.request import user_of

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
    actions = ("start", "stop", "restart")

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

    def has_run_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("deployments.change_deployment")

    def _each(self, request: HttpRequest, chosen: QuerySet[Deployment], action: Action) -> None:
        for deployment in chosen:
            done = action(user_of(request), deployment.pk)
            messages.info(request, f"{done}: {done.message}")


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = ("deployment", "epoch", "state", "message", "pid", "started_at", "ended_at")
    list_filter = ("state",)


@admin.register(DeployRequest)
class DeployRequestAdmin(ReadOnlyAdmin):
    list_display = ("key", "user", "deployment", "created_at")
