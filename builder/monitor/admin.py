from typing import Any

from django.contrib import admin
from django.forms import ModelForm
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from builder.monitor import actions
from builder.monitor.models import Leftover, Metric, Retention, Sequence
from builder.read_only_admin import ReadOnlyAdmin
from builder.request import user_of


@admin.register(Metric)
class MetricAdmin(ReadOnlyAdmin):
    list_display = ("deployment", "at", "rate")
    list_filter = ("deployment",)


@admin.register(Sequence)
class SequenceAdmin(ReadOnlyAdmin):
    list_display = ("name", "value")


@admin.register(Retention)
class RetentionAdmin(ModelAdmin):
    list_display = (
        "__str__",
        "runs_kept",
        "metrics_10s_days",
        "metrics_1min_days",
        "log_days",
        "checkpoint_days",
    )

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """The list, of the one that there is."""
        Retention.current()
        return super().changelist_view(request, extra_context)

    def save_model(
        self, request: HttpRequest, obj: Retention, form: ModelForm, change: bool
    ) -> None:
        actions.change_retention(user_of(request), form.cleaned_data)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Leftover)
class LeftoverAdmin(ReadOnlyAdmin):
    list_display = ("name", "connection", "at")
