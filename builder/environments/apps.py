from django.apps import AppConfig
from django.db.models.signals import pre_delete


class EnvironmentsConfig(AppConfig):
    name = "builder.environments"
    label = "environments"

    def ready(self) -> None:
        from builder.connections.models import Connection
        from builder.environments.actions import keep_those_that_environments_mean

        # Connections know nothing of environments, so that imports go one way.
        pre_delete.connect(keep_those_that_environments_mean, sender=Connection)
