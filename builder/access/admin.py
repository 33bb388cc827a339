from copy import copy
from typing import Any, cast

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from builder.access import actions
from builder.access.models import Activity, Grant, LoginAttempt, Token
from builder.access.roles import Role
from builder.read_only_admin import ReadOnlyAdmin
from builder.request import user_of

admin.site.unregister((User, Group))


class DeletesByAction(admin.ModelAdmin):
    """Deletes one row or several by the same action."""

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        raise NotImplementedError

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for row in queryset:
            self.delete_model(request, row)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """What goes with them; the action decides whether it may, not each row's own page."""
        found, counts, _, protected = super().get_deleted_objects(objs, request)
        return found, counts, set(), protected


@admin.register(User)
class UserAdmin(DeletesByAction, DjangoUserAdmin, ModelAdmin):
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    # Django's own permissions mean nothing here: roles are granted.
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Who it is", {"fields": ("first_name", "last_name", "email")}),
        ("What they may", {"fields": ("is_active", "is_staff", "is_superuser", "groups")}),
        ("When", {"fields": ("last_login", "date_joined")}),
    )
    filter_horizontal = ("groups",)
    readonly_fields = ("last_login", "date_joined")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        return fields if user_of(request).is_superuser else (*fields, "is_superuser")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        actions.save_user(user_of(request), obj)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        if "groups" in form.cleaned_data:
            actions.set_groups(user_of(request), form.instance, form.cleaned_data["groups"])

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        actions.delete_user(user_of(request), obj)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:
        """Django's page; what its form saves, the action does."""
        asks = user_of(request)

        class ByAction(AdminPasswordChangeForm):
            def save(self, commit: bool = True) -> User:
                wants_one = self.cleaned_data["set_usable_password"]
                password = self.cleaned_data["password1"] if wants_one else None
                actions.set_password(asks, self.user, password)
                return self.user

        # A copy: this object serves all requests.
        page = copy(self)
        page.change_password_form = ByAction
        return DjangoUserAdmin.user_change_password(page, request, id, form_url)


@admin.register(Group)
class GroupAdmin(DeletesByAction, DjangoGroupAdmin, ModelAdmin):
    fields = ("name",)
    filter_horizontal = ()

    def save_model(self, request: HttpRequest, obj: Group, form: Any, change: bool) -> None:
        actions.save_group(user_of(request), obj)

    def delete_model(self, request: HttpRequest, obj: Group) -> None:
        actions.delete_group(user_of(request), obj)


@admin.register(Grant)
class GrantAdmin(DeletesByAction, ModelAdmin):
    list_display = ("role", "user", "group", "place", "granted_by", "created_at")
    list_filter = ("role", "user", "group")
    fields = ("role", "user", "group", "folder", "pipeline")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Grant, form: Any, change: bool) -> None:
        wanted = actions.Wanted(
            role=cast(Role, obj.role),
            user=obj.user.get_username() if obj.user else None,
            group=obj.group.name if obj.group else None,
            folder=obj.folder,
            pipeline=obj.pipeline_id,
        )
        obj.pk = actions.grant(user_of(request), wanted).pk

    def delete_model(self, request: HttpRequest, obj: Grant) -> None:
        actions.revoke(user_of(request), obj.pk)


@admin.register(Token)
class TokenAdmin(ReadOnlyAdmin):
    list_display = ("name", "user", "scopes", "created_at", "expires_at", "used_at")
    list_filter = ("user",)
    exclude = ("digest",)
    actions = ("revoke",)

    @admin.action(description="Revoke", permissions=("revoke",))
    def revoke(self, request: HttpRequest, chosen: QuerySet[Token]) -> None:
        for token in chosen:
            actions.revoke_token(user_of(request), token.pk)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("access.delete_token")


@admin.register(LoginAttempt)
class LoginAttemptAdmin(ReadOnlyAdmin):
    list_display = ("at", "username", "address")
    search_fields = ("username",)


@admin.register(Activity)
class ActivityAdmin(ReadOnlyAdmin):
    list_display = ("at", "username", "via", "address", "verb", "subject", "message")
    list_filter = ("verb", "subject", "via", "username")
    search_fields = ("message",)
