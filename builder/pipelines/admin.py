from django.contrib import admin

from builder.pipelines.models import Pipeline, Version
from builder.read_only_admin import ReadOnlyAdmin


@admin.register(Pipeline)
class PipelineAdmin(ReadOnlyAdmin):
    list_display = ("name", "slug", "owner", "revision", "updated_at")
    list_filter = ("owner",)
    search_fields = ("name", "slug")


@admin.register(Version)
class VersionAdmin(ReadOnlyAdmin):
    list_display = ("pipeline", "number", "comment", "created_by", "created_at")
    list_filter = ("pipeline",)
