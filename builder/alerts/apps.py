from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "builder.alerts"
    label = "alerts"

    def ready(self) -> None:
        from builder.alerts.tasks import look_at_once
        from builder.monitor.tell import told

        # The monitor knows nothing of alerts, so that imports go one way.
        told.connect(look_at_once)
