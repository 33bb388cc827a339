"""Django's own question, "has this user that permission?", answered by roles."""

from typing import Any, cast

from django.apps import apps
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User

from builder.access.permissions import may
from builder.access.roles import Verb


class ByRoles(ModelBackend):
    """Passwords as Django has them; permissions, as the admin asks for them, as roles say."""

    def has_perm(self, user_obj: Any, perm: str, obj: Any = None) -> bool:
        """Whether the user may do this everywhere, or with `obj`."""
        app_label, _, codename = perm.partition(".")
        verb, _, name = codename.partition("_")
        try:
            model = apps.get_model(app_label, name)
        except LookupError:
            return False
        return isinstance(user_obj, User) and may(user_obj, cast(Verb, verb), obj or model)

    def has_module_perms(self, user_obj: Any, app_label: str) -> bool:
        """Whether the user may see anything of an app."""
        models = apps.get_app_config(app_label).get_models()
        return isinstance(user_obj, User) and any(may(user_obj, "view", m) for m in models)
