"""Pages, their headers, and the admin."""

import re
from pathlib import Path
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.apps import apps
from django.contrib import admin as django_admin
from django.contrib.auth.models import User
from django.test import Client

from builder.asgi import application
from builder.deployments.models import Deployment
from builder.environments.models import Meaning
from builder.monitor.models import MetricBlock


@pytest.fixture
def page(client: Client, tmp_path: Path, settings: Any) -> str:
    settings.FRONTEND = tmp_path
    (tmp_path / "index.html").write_text("<title>Headrace</title>")
    return "<title>Headrace</title>"


def text(response: Any) -> str:
    return (
        b"".join(response.streaming_content).decode()
        if response.streaming
        else (response.content.decode())
    )


@pytest.mark.parametrize("path", ["/", "/pipelines/x", "/deployments/x", "/anything/else"])
def test_every_client_route_is_the_application(path: str, page: str, client: Client) -> None:
    response = client.get(path)
    assert response.status_code == 200
    assert text(response) == page
    assert "no-store" in response.headers["Cache-Control"]


@pytest.mark.parametrize("path", ["/favicon.ico", "/assets/old-12345678.js", "/static/x", "/ws/x"])
def test_a_file_that_is_not_there_is_no_page(path: str, page: str, client: Client) -> None:
    assert client.get(path).status_code == 404


def test_without_a_built_frontend_it_says_what_to_do(
    client: Client, tmp_path: Path, settings: Any
) -> None:
    settings.FRONTEND = tmp_path / "nothing"
    response = client.get("/")
    assert (response.status_code, "make up" in text(response)) == (503, True)


def test_headers(page: str, client: Client) -> None:
    headers = client.get("/").headers
    policy = dict(p.split(" ", 1) for p in headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["script-src"] == "'self'"
    assert policy["connect-src"] == "'self' ws: wss:"
    assert policy["style-src"] == "'self' 'unsafe-inline'"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"


def test_the_page_of_the_api_needs_no_other_server(client: Client) -> None:
    response = client.get("/api/docs")
    body = text(response)
    assert "'unsafe" not in response.headers["Content-Security-Policy"].split("style-src")[0]
    found = re.findall(r'(?:src|href)="([^"]+)"', body)
    assert found
    assert all(address.startswith("/static/") for address in found)
    # Scripts in the page itself would be refused by the policy; data are none.
    assert not re.search(r"<script(?![^>]*(src=|application/json))", body)


def test_the_description_of_the_api(client: Client) -> None:
    described = client.get("/api/openapi.json").json()
    operations = [o for path in described["paths"].values() for o in path.values()]
    ids = [o["operationId"] for o in operations]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[a-z_]+", id_) for id_ in ids)
    assert {"list_pipelines", "create_deployment", "get_me"} <= set(ids)
    assert all(o["responses"]["default"] for o in operations)
    text_ = str(described)
    for name in re.findall(r"#/components/schemas/(\w+)", text_):
        assert name in described["components"]["schemas"]


def test_health_needs_no_login(client: Client, db: None) -> None:
    response = client.get("/api/health")
    assert response.status_code == 200
    found = response.json()
    assert found["status"] == "degraded", "no worker is there"
    assert found["checks"]["database"]["ok"]
    assert found["checks"]["redis"]["ok"]
    assert not found["checks"]["control_worker"]["ok"]


def test_every_model_is_in_the_admin(admin: User, client: Client, api: Any, local: Any) -> None:
    pipeline = api.post("/pipelines", {"template": "word-count"}, 201)
    api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    case = {"name": "x", "rows": {}, "expected": {}}
    api.post(f"/pipelines/{pipeline['id']}/test-cases", case, 201)
    client.force_login(admin)
    ours = [m for m in django_admin.site._registry if m.__module__.startswith("builder.")]
    # Parts of others, and what is made for drawing lines, have no page of their own.
    models = {m for m in apps.get_models() if m.__module__.startswith("builder.")}
    assert set(ours) == models - {Meaning, MetricBlock}
    for model in ours:
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        assert client.get(path).status_code == 200
        for row in model.objects.all()[:1]:
            assert client.get(f"{path}{row.pk}/change/").status_code == 200
        if model._meta.model_name not in ("connection", "environment", "grant"):
            assert client.get(f"{path}add/").status_code == 403


def test_the_admin_goes_through_actions(admin: User, client: Client, api: Any, local: Any) -> None:
    pipeline = api.post("/pipelines", {"template": "word-count"}, 201)
    made = api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    client.force_login(admin)
    for action, desired in (("stop", "stopped"), ("start", "running"), ("restart", "running")):
        generation = Deployment.objects.get().generation
        client.post(
            "/admin/deployments/deployment/", {"action": action, "_selected_action": made["id"]}
        )
        row = Deployment.objects.get()
        assert row.desired == desired
        assert row.generation == generation + (action != "stop")
    assert [a["verb"] for a in api.get(f"/deployments/{made['id']}/activity")["items"]][:3] == [
        "restart", "start", "stop",
    ]  # fmt: skip
    added = {"name": "prod", "bootstrap_servers": "a:1"}
    client.post("/admin/connections/connection/add/", added)
    refused = client.post(
        "/admin/connections/connection/add/", {"name": "Bad", "bootstrap_servers": "nowhere"}
    )
    assert refused.status_code == 200
    assert [c["name"] for c in api.get("/connections")["items"]] == ["local", "prod"]


async def test_a_large_body_is_not_even_read() -> None:
    scope = {
        "type": "http", "method": "POST", "path": "/api/pipelines", "query_string": b"",
        "headers": [(b"content-length", str(10**12).encode())],
    }  # fmt: skip
    communicator = ApplicationCommunicator(application, scope)
    start = await communicator.receive_output(2)
    assert start["status"] == 413
    assert (b"content-type", b"application/problem+json") in start["headers"]
