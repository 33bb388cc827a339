from typing import Any

from django.contrib import admin, messages
from django.forms import ModelForm
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from builder.connections import actions
from builder.connections.models import Connection
from builder.refused import Refused
from builder.request import user_of


@admin.register(Connection)
class ConnectionAdmin(ModelAdmin):
    list_display = ("name", "type", "bootstrap_servers", "updated_at")
    search_fields = ("name", "bootstrap_servers")
    fields = ("name", "bootstrap_servers")

    def save_model(
        self, request: HttpRequest, obj: Connection, form: ModelForm, change: bool
    ) -> None:
        try:
            if change:
                actions.change_connection(user_of(request), obj.pk, obj.name, obj.bootstrap_servers)
            else:
                made = actions.make_connection(user_of(request), obj.name, obj.bootstrap_servers)
                obj.pk = made.pk
        except Refused as error:
            messages.error(request, error.detail)

    def delete_model(self, request: HttpRequest, obj: Connection) -> None:
        actions.delete_connection(user_of(request), obj.pk)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for connection in queryset:
            actions.delete_connection(user_of(request), connection.pk)
