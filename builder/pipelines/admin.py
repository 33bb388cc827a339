from django.contrib import admin

from builder.pipelines.models import Pipeline, TestCase, Version
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


@admin.register(TestCase)
class TestCaseAdmin(ReadOnlyAdmin):
    list_display = ("name", "pipeline", "last_passed", "last_at", "created_by", "updated_at")
    list_filter = ("pipeline", "last_passed")
    search_fields = ("name",)
