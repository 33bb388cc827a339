"""Which address belongs to what; everything else is the one-page application."""

from django.contrib import admin
from django.urls import path, re_path

from builder.access.own_password import own_password
from builder.api import api
from builder.monitor.prometheus import prometheus
from builder.pages import frontend
from builder.refused import no_such_call

handler500 = "builder.refused.our_fault"

urlpatterns = [
    path("api/", api.urls),
    re_path(r"^api/", no_such_call),
    path("metrics", prometheus),
    path("admin/password_change/", own_password),
    path("admin/", admin.site.urls),
    re_path(r"^(?!api/|admin/|ws/|static/|assets/)[^.]*$", frontend),
]
