from django.apps import AppConfig


class PipelinesConfig(AppConfig):
    name = "builder.pipelines"
    label = "pipelines"
