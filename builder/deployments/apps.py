from django.apps import AppConfig
from django.db.models.signals import pre_delete


class DeploymentsConfig(AppConfig):
    name = "builder.deployments"
    label = "deployments"

    def ready(self) -> None:
        from builder.connections.models import Connection
        from builder.deployments.actions import forget_deployments_of
        from builder.deployments.placement import keep_environments_in_use
        from builder.deployments.uses import keep_connections_in_use
        from builder.environments.models import Environment
        from builder.pipelines.models import Pipeline

        # These know nothing of deployments, so that imports go one way.
        pre_delete.connect(forget_deployments_of, sender=Pipeline)
        pre_delete.connect(keep_environments_in_use, sender=Environment)
        pre_delete.connect(keep_connections_in_use, sender=Connection)
