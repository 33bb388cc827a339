from django.contrib import admin
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordChangeView
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from unfold.forms import AdminOwnPasswordChangeForm

from builder.access import actions


class OwnPasswordForm(AdminOwnPasswordChangeForm):
    """Django's form; what it saves, the action does."""

    def save(self, commit: bool = True) -> User:
        actions.set_password(self.user, self.user, self.cleaned_data["new_password1"])
        return self.user


def own_password(request: HttpRequest) -> HttpResponseBase:
    """The admin's page on which people change their own password."""
    page = PasswordChangeView.as_view(
        form_class=OwnPasswordForm,
        success_url=reverse("admin:password_change_done"),
        extra_context=admin.site.each_context(request),
    )
    return page(request)
