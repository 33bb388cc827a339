from django.apps import AppConfig


class AccessConfig(AppConfig):
    name = "builder.access"
    label = "access"
