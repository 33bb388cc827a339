from django.contrib import admin

from builder.letters.models import Replay
from builder.read_only_admin import ReadOnlyAdmin


@admin.register(Replay)
class ReplayAdmin(ReadOnlyAdmin):
    list_display = ("letter", "deployment", "step", "topic", "edited", "username", "at")
    list_filter = ("deployment",)
