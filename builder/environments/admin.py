from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from builder.environments import actions
from builder.environments.models import Environment
from builder.environments.profile import Profile
from builder.refused import Refused
from builder.request import user_of


class EnvironmentForm(forms.ModelForm):
    connections = forms.JSONField(
        required=False,
        help_text='which connection a graph\'s name means here: {"local": "prod"}',
    )

    class Meta:
        model = Environment
        fields = (
            "name",
            "connections",
            "master",
            "cores",
            "driver_memory",
            "executor_memory",
            "conf",
            "masks",
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Whoever may only look is given no fields.
        if "name" in self.fields and self.instance.created_at is not None:
            self.fields["connections"].initial = self.instance.stands_for
            self.fields["name"].disabled = True

    def clean(self) -> dict[str, Any]:
        """Say on each field what the actions would refuse."""
        given: dict[str, Any] = super().clean() or self.cleaned_data
        for name in ("connections", "conf"):
            found = given.get(name) or {}
            is_named = isinstance(found, dict)
            if not is_named or not all(isinstance(value, str) for value in found.values()):
                self.add_error(name, "Write names with texts, as JSON.")
                given[name] = found = {}
            given[name] = found
        masks = given.get("masks") or []
        if not isinstance(masks, list) or not all(isinstance(name, str) for name in masks):
            self.add_error("masks", 'Write a list of names, as JSON: ["email", "*_token"]')
            masks = []
        given["masks"] = masks
        for problem in actions.faults(self.wanted()):
            self.add_error((problem.field or "").partition(".")[0], problem.message)
        return given

    def wanted(self) -> actions.Wanted:
        """What the form asks for."""
        given = self.cleaned_data
        profile = Profile(
            given.get("master", ""),
            given.get("cores"),
            given.get("driver_memory", ""),
            given.get("executor_memory", ""),
            given.get("conf") or {},
        )
        return actions.Wanted(
            given.get("name", ""), given.get("connections") or {}, profile, given["masks"]
        )


@admin.register(Environment)
class EnvironmentAdmin(ModelAdmin):
    form = EnvironmentForm
    list_display = ("name", "master", "cores", "updated_at")
    search_fields = ("name", "master")

    def save_model(
        self, request: HttpRequest, obj: Environment, form: EnvironmentForm, change: bool
    ) -> None:
        try:
            if change:
                actions.change_environment(user_of(request), obj.name, form.wanted())
            else:
                obj.pk = actions.make_environment(user_of(request), form.wanted()).pk
        except Refused as error:
            messages.error(request, error.detail)

    def delete_model(self, request: HttpRequest, obj: Environment) -> None:
        self._delete(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Environment]) -> None:
        for environment in queryset:
            self._delete(request, environment)

    def _delete(self, request: HttpRequest, environment: Environment) -> None:
        try:
            actions.delete_environment(user_of(request), environment.name)
        except Refused as error:
            messages.error(request, error.detail)
