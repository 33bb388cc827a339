from django.contrib import admin

from builder.alerts.models import Alert, AlertRule, Notification, Observation, Silence
from builder.read_only_admin import ReadOnlyAdmin


@admin.register(AlertRule)
class AlertRuleAdmin(ReadOnlyAdmin):
    list_display = ("name", "place", "measure", "threshold", "seconds", "severity", "is_on")
    list_filter = ("measure", "severity", "is_on")
    search_fields = ("name",)
    # The way to many a webhook is as good as a password.
    exclude = ("webhook", "webhook_secret")


@admin.register(Alert)
class AlertAdmin(ReadOnlyAdmin):
    list_display = ("began_at", "ended_at", "severity", "name", "message", "acknowledged_by")
    list_filter = ("severity", "measure")
    search_fields = ("message",)


@admin.register(Silence)
class SilenceAdmin(ReadOnlyAdmin):
    list_display = ("rule", "deployment", "until", "comment", "by")


@admin.register(Notification)
class NotificationAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "channel", "about", "state", "attempts", "said")
    list_filter = ("channel", "state")


@admin.register(Observation)
class ObservationAdmin(ReadOnlyAdmin):
    list_display = ("deployment", "turn")
