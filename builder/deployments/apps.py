from django.apps import AppConfig


class DeploymentsConfig(AppConfig):
    name = "builder.deployments"
    label = "deployments"
