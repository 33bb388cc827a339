from django.contrib import admin

from builder.monitor.models import Metric, Sequence
from builder.read_only_admin import ReadOnlyAdmin


@admin.register(Metric)
class MetricAdmin(ReadOnlyAdmin):
    list_display = ("deployment", "at", "rate")
    list_filter = ("deployment",)


@admin.register(Sequence)
class SequenceAdmin(ReadOnlyAdmin):
    list_display = ("name", "value")
