from django.contrib import admin

from builder.lineage.models import ToldRun
from builder.read_only_admin import ReadOnlyAdmin


@admin.register(ToldRun)
class ToldRunAdmin(ReadOnlyAdmin):
    list_display = ("run", "events", "is_done", "attempts", "said")
    list_filter = ("is_done",)
