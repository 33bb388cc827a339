from django.apps import AppConfig
from django.db.models.signals import pre_delete


class MonitorConfig(AppConfig):
    name = "builder.monitor"
    label = "monitor"

    def ready(self) -> None:
        from builder.deployments.models import Deployment
        from builder.monitor.retention import note_topics

        pre_delete.connect(note_topics, sender=Deployment)
