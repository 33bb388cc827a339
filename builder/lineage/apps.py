from django.apps import AppConfig


class LineageConfig(AppConfig):
    name = "builder.lineage"
    label = "lineage"
