from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from builder.access import actions
from builder.access.models import Activity, Token
from builder.read_only_admin import ReadOnlyAdmin
from builder.request import user_of

admin.site.unregister((User, Group))


@admin.register(User)
class UserAdmin(DjangoUserAdmin, ModelAdmin):
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        actions.user_changed(user_of(request), obj)


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, ModelAdmin):
    pass


@admin.register(Token)
class TokenAdmin(ReadOnlyAdmin):
    list_display = ("name", "user", "created_at", "used_at")
    list_filter = ("user",)
    exclude = ("digest",)
    actions = ("revoke",)

    @admin.action(description="Revoke", permissions=("revoke",))
    def revoke(self, request: HttpRequest, chosen: QuerySet[Token]) -> None:
        for token in chosen:
            actions.revoke_token(user_of(request), token.pk)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("access.delete_token")


@admin.register(Activity)
class ActivityAdmin(ReadOnlyAdmin):
    list_display = ("at", "user", "verb", "subject", "message")
    list_filter = ("verb", "subject", "user")
    search_fields = ("message",)
