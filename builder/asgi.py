"""The server's entry: HTTP to Django, websockets to the monitor."""

import os

from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "builder.settings")

# Django must stand before anything that holds models is imported.
http = get_asgi_application()

from builder.access.websocket import identified  # noqa: E402
from builder.body_limit import limited  # noqa: E402
from builder.monitor.consumers import DeploymentConsumer, DeploymentsConsumer  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": limited(http),
        "websocket": identified(
            URLRouter(
                [
                    path("ws/deployments", DeploymentsConsumer.as_asgi()),
                    path("ws/deployments/<uuid:deployment_id>", DeploymentConsumer.as_asgi()),
                ]
            )
        ),
    }
)
