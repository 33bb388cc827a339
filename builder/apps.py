from django.apps import AppConfig


class BuilderConfig(AppConfig):
    name = "builder"

    def ready(self) -> None:
        # Tasks are sent through this app from every process, not only from workers.
        import builder.celery  # noqa: F401
