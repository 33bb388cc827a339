from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.admin import ModelAdmin
from unfold.decorators import action
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminTextareaWidget

from builder.connections import actions
from builder.connections.models import Connection
from builder.refused import Refused
from builder.request import user_of
from runner.problems import Problem

_SECRETS = ("password", "client_key")


class ConnectionForm(forms.ModelForm):
    password = forms.CharField(required=False, strip=False, widget=UnfoldAdminPasswordWidget())
    client_key = forms.CharField(required=False, widget=UnfoldAdminTextareaWidget())

    class Meta:
        model = Connection
        fields = ("name", "type", "bootstrap_servers", "settings")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Whoever may only look is given no fields.
        if "type" not in self.fields:
            return
        self.fields["type"].required = False
        if self.instance.created_at is not None:
            self.fields["type"].disabled = True
        for name in _SECRETS:
            is_set = name in self.instance.secrets
            # Written only: what is set is never shown, and left empty it stays as it is.
            self.fields[name].help_text = "It is set; empty keeps it." if is_set else "Not set."

    def clean(self) -> dict[str, Any]:
        """Say on each field what the actions would refuse."""
        given: dict[str, Any] = super().clean() or self.cleaned_data
        given["type"] = given.get("type") or Connection.Type.KAFKA
        if not isinstance(given.get("settings") or {}, dict):
            self.add_error("settings", "Write names with values, as a JSON object.")
        if not self.errors:
            for problem in actions.faults(self.wanted(), self.instance):
                self._blame(problem)
        return given

    def _blame(self, problem: Problem) -> None:
        """Show a problem on the field that people see: all settings stand in one."""
        group, _, name = (problem.field or "").rpartition(".")
        if group == "settings":
            self.add_error("settings", f"{name}: {problem.message}")
        else:
            self.add_error(name if name in self.fields else None, problem.message)

    def wanted(self) -> actions.Wanted:
        """What the form asks for."""
        given = self.cleaned_data
        return actions.Wanted(
            given["name"],
            given["type"],
            given["bootstrap_servers"],
            given.get("settings") or {},
            {name: given.get(name, "") for name in _SECRETS},
        )


@admin.register(Connection)
class ConnectionAdmin(ModelAdmin):
    form = ConnectionForm
    list_display = ("name", "type", "bootstrap_servers", "updated_at")
    list_filter = ("type",)
    search_fields = ("name", "bootstrap_servers")
    actions_detail = ("test",)

    @action(description="Test", url_path="test", permissions=("change",))
    def test(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Try the connection, and say what came of each step."""
        try:
            for step in actions.test_connection(user_of(request), UUID(object_id)):
                level = messages.SUCCESS if step["ok"] else messages.ERROR
                messages.add_message(request, level, f"{step['name']}: {step['message']}")
        except Refused as error:
            messages.error(request, error.detail)
        return redirect("admin:connections_connection_change", object_id)

    def save_model(
        self, request: HttpRequest, obj: Connection, form: ConnectionForm, change: bool
    ) -> None:
        try:
            if change:
                actions.change_connection(user_of(request), obj.pk, form.wanted())
            else:
                obj.pk = actions.make_connection(user_of(request), form.wanted()).pk
        except Refused as error:
            messages.error(request, error.detail)

    def delete_model(self, request: HttpRequest, obj: Connection) -> None:
        self._delete(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Connection]) -> None:
        for connection in queryset:
            self._delete(request, connection)

    def _delete(self, request: HttpRequest, connection: Connection) -> None:
        try:
            actions.delete_connection(user_of(request), connection.pk)
        except Refused as error:
            messages.error(request, error.detail)
