from django.apps import AppConfig


class MonitorConfig(AppConfig):
    name = "builder.monitor"
    label = "monitor"
