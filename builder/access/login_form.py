from typing import Any

from django.core.exceptions import ValidationError
from unfold.forms import AuthenticationForm

from builder.access import actions
from builder.refused import Refused


class LoginForm(AuthenticationForm):
    """The admin's login, with the lockout that every other login has."""

    def clean(self) -> dict[str, Any]:
        """Look at the password, unless too many were wrong."""
        given: dict[str, Any] = self.cleaned_data
        if "username" in given and "password" in given:
            try:
                self.user_cache = actions.authenticated(
                    self.request, given["username"], given["password"]
                )
            except Refused as error:
                # For the status of the answer, which no form decides.
                self.request.refused = error
                raise ValidationError(error.detail) from None
            self.confirm_login_allowed(self.user_cache)
        return given
