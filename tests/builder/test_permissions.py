"""Who may do what: every route, websocket and page of the admin, by role and by scope."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.apps import apps
from django.contrib import admin as django_admin
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.test import Client
from django.utils import timezone

from builder.access.actions import make_token
from builder.access.models import Grant
from builder.access.roles import ROLES, SCOPES
from builder.alerts.models import Alert
from builder.api import api as headrace_api
from builder.asgi import application
from builder.connections import kafka
from builder.connections.models import Connection
from tests.builder.conftest import Api, user_with
from tests.builder.watching import Watching

EMPTY = {"version": 1, "steps": [], "edges": []}
CASE = {"name": "new", "rows": {}, "expected": {}}
RULE = {"name": "down", "measure": "failed", "webhook": "https://example.com/"}
CLUSTER = {"name": "other", "bootstrap_servers": "127.0.0.1:1"}

# `elsewhere` has every role on another folder, `staff` none, but may open the Django admin.
ACTORS = ["nobody", "staff", "viewer", "editor", "operator", "admin", "elsewhere", "superuser"]
# What each of them is answered; `ok` is anything but 401, 403 and 404.
WHO = {
    #              nobody staff viewer editor operator admin elsewhere superuser
    "any":         "ok    ok    ok     ok     ok       ok    ok        ok",
    # Of one pipeline, which `elsewhere` does not see.
    "see":         "404   404   ok     ok     ok       ok    404       ok",
    "try":         "404   404   ok     ok     ok       ok    404       ok",
    "draw":        "404   404   403    ok     403      ok    404       ok",
    "operate":     "404   404   403    403    ok       ok    404       ok",
    # On everything.
    "make":        "403   403   403    ok     403      ok    403       ok",
    "administer":  "403   403   403    403    403      ok    403       ok",
    "look after":  "404   404   403    403    403      ok    403       ok",
    # Somewhere.
    "use":         "403   403   ok     ok     ok       ok    ok        ok",
    "rehearse":    "403   403   ok     ok     ok       ok    ok        ok",
    "know":        "404   404   ok     ok     ok       ok    ok        ok",
    "read topics": "404   404   403    ok     ok       ok    ok        ok",
    "make topics": "404   404   403    403    ok       ok    ok        ok",
    # Of others: what one may not see is not there.
    "theirs":      "404   404   404    404    404      ok    404       ok",
}  # fmt: skip
# The scopes, any of which lets a token through.
LET_THROUGH = {
    **dict.fromkeys(["any", "see", "use", "know", "read topics"], "read edit operate admin"),
    **dict.fromkeys(["draw", "make"], "edit"),
    **dict.fromkeys(["try", "rehearse"], "edit operate"),
    **dict.fromkeys(["operate", "make topics"], "operate"),
    **dict.fromkeys(["administer", "look after", "theirs"], "admin"),
}

ROUTES: dict[str, tuple[str, Any]] = {
    "POST /logout": ("any", None),
    "GET /me": ("any", None),
    "GET /tokens": ("any", None),
    "DELETE /tokens/{token_id}": ("theirs", None),
    "GET /grants": ("any", None),
    "POST /grants": ("administer", {"role": "viewer", "user": "vic"}),
    "DELETE /grants/{grant_id}": ("theirs", None),
    "GET /functions": ("any", None),
    "GET /step-types": ("any", None),
    "GET /templates": ("any", None),
    "GET /headrace-operators.jar": ("any", None),
    "POST /rows/parse": ("any", {"text": "a"}),
    "POST /check": ("use", {"graph": EMPTY}),
    "POST /compile": ("use", {"graph": EMPTY}),
    "POST /rehearse": ("rehearse", {"graph": EMPTY, "rows": {}}),
    "GET /pipelines": ("any", None),
    "POST /pipelines": ("make", {"name": "x"}),
    "POST /pipelines/import": ("make", {"graph": EMPTY}),
    "GET /pipelines/{pipeline_id}": ("see", None),
    "PUT /pipelines/{pipeline_id}": ("draw", {"revision": 1, "name": "y"}),
    "DELETE /pipelines/{pipeline_id}": ("draw", None),
    "GET /pipelines/{pipeline_id}/plan": ("see", None),
    "GET /pipelines/{pipeline_id}/export": ("see", None),
    "GET /pipelines/{pipeline_id}/activity": ("see", None),
    "POST /pipelines/{pipeline_id}/versions": ("draw", {}),
    "GET /pipelines/{pipeline_id}/versions": ("see", None),
    "GET /pipelines/{pipeline_id}/versions/{number}": ("see", None),
    "GET /pipelines/{pipeline_id}/versions/{before}/diff/{after}": ("see", None),
    "GET /pipelines/{pipeline_id}/test-cases": ("see", None),
    "POST /pipelines/{pipeline_id}/test-cases": ("draw", CASE),
    "POST /pipelines/{pipeline_id}/test-cases/run": ("try", {}),
    "GET /pipelines/{pipeline_id}/test-cases/{case_id}": ("see", None),
    "PUT /pipelines/{pipeline_id}/test-cases/{case_id}": ("draw", CASE),
    "DELETE /pipelines/{pipeline_id}/test-cases/{case_id}": ("draw", None),
    "GET /connections": ("any", None),
    "POST /connections": ("administer", CLUSTER),
    "GET /connections/{connection_id}": ("know", None),
    "PUT /connections/{connection_id}": ("administer", CLUSTER),
    "DELETE /connections/{connection_id}": ("administer", None),
    "POST /connections/{connection_id}/test": ("look after", None),
    "GET /connections/{connection_id}/topics": ("read topics", None),
    "POST /connections/{connection_id}/topics": ("make topics", {"topic": "x"}),
    "GET /connections/{connection_id}/topics/{topic}/sample": ("read topics", None),
    "GET /connections/{connection_id}/topics/{topic}": ("read topics", None),
    "GET /connections/{connection_id}/topics/{topic}/groups": ("read topics", None),
    "GET /connections/{connection_id}/topics/{topic}/records": ("read topics", None),
    "POST /connections/{connection_id}/topics/{topic}/records": ("make topics", {"value": "x"}),
    "GET /environments": ("any", None),
    "POST /environments": ("administer", {"name": "test"}),
    "GET /environments/{name}": ("know", None),
    "PUT /environments/{name}": ("administer", {"name": "prod"}),
    "DELETE /environments/{name}": ("administer", None),
    "GET /disk": ("any", None),
    "GET /metrics": ("any", None),
    "GET /alerts": ("any", None),
    "POST /alerts/{alert_id}/acknowledge": ("operate", None),
    "GET /alert-rules": ("any", None),
    "POST /alert-rules": ("administer", RULE),
    "GET /alert-rules/{rule_id}": ("see", None),
    "PUT /alert-rules/{rule_id}": ("operate", {**RULE, "pipeline": "{pipeline_id}"}),
    "DELETE /alert-rules/{rule_id}": ("operate", None),
    "POST /alert-rules/{rule_id}/test": ("operate", None),
    "GET /silences": ("any", None),
    "POST /silences": ("operate", {"deployment": "{deployment_id}", "until": "{soon}"}),
    "DELETE /silences/{silence_id}": ("operate", None),
    "GET /deployments": ("any", None),
    "POST /deployments": ("operate", {"pipeline": "{pipeline_id}"}),
    "GET /deployments/{deployment_id}": ("see", None),
    "POST /deployments/{deployment_id}/stop": ("operate", None),
    "POST /deployments/{deployment_id}/start": ("operate", None),
    "POST /deployments/{deployment_id}/restart": ("operate", None),
    "POST /deployments/{deployment_id}/rewind": ("operate", {"start": "latest"}),
    "POST /deployments/{deployment_id}/roll-back": ("operate", None),
    "GET /deployments/{deployment_id}/fit": ("see", None),
    "GET /deployments/{deployment_id}/metrics": ("see", None),
    "GET /deployments/{deployment_id}/state": ("see", None),
    "GET /deployments/{deployment_id}/state/{step}": ("see", None),
    "GET /deployments/{deployment_id}/logs": ("see", None),
    "GET /deployments/{deployment_id}/activity": ("see", None),
    "GET /deployments/{deployment_id}/dead-letters": ("see", None),
    "POST /deployments/{deployment_id}/dead-letters/replay": (
        "operate",
        {"all": True, "step": "x"},
    ),
}
# These ask nobody who they are.
OPEN = {"POST /login", "POST /tokens", "GET /health"}


@pytest.fixture
def ids(api: Api, local: Connection, monkeypatch: Any) -> dict[str, str]:
    """A deployed pipeline in the folder `sales`, with a version, a test case, a grant."""
    monkeypatch.setattr(kafka, "TIMEOUT", 0.1)
    pipeline = api.post("/pipelines", {"template": "word-count", "folder": "sales"}, 201)
    path = f"/pipelines/{pipeline['id']}"
    case = api.post(f"{path}/test-cases", {**CASE, "name": "old"}, 201)
    deployment = api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    api.post("/environments", {"name": "prod"}, 201)
    grant = Grant.objects.create(role="viewer", user=api.user, folder="sales")
    token = make_token(User.objects.create_user("tom"), "old")[0]
    rule = api.post("/alert-rules", {**RULE, "pipeline": pipeline["id"]}, 201)
    soon = (timezone.now() + timedelta(hours=1)).isoformat()
    silence = api.post("/silences", {"deployment": deployment["id"], "until": soon}, 201)
    alert = Alert.objects.create(
        rule_id=rule["id"], deployment_id=deployment["id"], name="down", measure="failed",
        severity="warning", value=1, message="It failed", began_at=timezone.now(),
    )  # fmt: skip
    return {
        "pipeline_id": pipeline["id"], "case_id": case["id"], "deployment_id": deployment["id"],
        "connection_id": str(local.pk), "grant_id": str(grant.pk), "token_id": str(token.pk),
        "number": "1", "before": "1", "after": "1", "topic": "x",
        "name": "prod", "rule_id": rule["id"], "silence_id": silence["id"],
        "alert_id": str(alert.pk), "soon": soon, "step": "counts",
    }  # fmt: skip


def actor(name: str) -> User:
    """One of ACTORS, made anew."""
    if name == "superuser":
        return User.objects.create_superuser("sue")
    if name == "elsewhere":
        return user_with("els", "viewer", "editor", "operator", "admin", folder="elsewhere")
    user = user_with(f"some-{name}", *([name] if name in ROLES else []))
    if name == "staff":
        user.is_staff = True
        user.save()
    return user


@contextmanager
def undone() -> Iterator[None]:
    """Whatever is written within is forgotten."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def asked(api: Api, route: str, body: Any, ids: dict[str, str]) -> Any:
    """The answer to a route of the table, with the ids of what there is."""
    method, path = route.split()
    text = json.dumps(body)
    for name, id_ in ids.items():
        path, text = path.replace(f"{{{name}}}", id_), text.replace(f"{{{name}}}", id_)
    return api.call(method, path, json.loads(text))


def test_the_table_has_every_route() -> None:
    """A route that nobody has said who may call is not to be had."""
    described = headrace_api.get_openapi_schema()["paths"]
    there = {
        f"{method.upper()} {path.removeprefix('/api')}"
        for path, operations in described.items()
        for method in operations
    }
    assert there == ROUTES.keys() | OPEN


@pytest.mark.parametrize("route", ROUTES)
def test_each_role_may_what_the_table_says(route: str, ids: dict[str, str]) -> None:
    """A viewer neither deploys nor tests a connection, and nobody sees what is others'."""
    group, body = ROUTES[route]
    found = {}
    for name in ACTORS:
        with undone():
            status = asked(Api(actor(name)), route, body, ids).status_code
        found[name] = str(status) if status in (401, 403, 404) else "ok"
    assert found == dict(zip(ACTORS, WHO[group].split(), strict=True))
    with undone():
        assert asked(Api(None), route, body, ids).status_code == 401
    # However much its user may do, a token does what its scopes let through.
    sue = actor("superuser")
    for scope in SCOPES:
        program = Api(None)
        program.headers["Authorization"] = f"Bearer {make_token(sue, scope, [scope])[1]}"
        with undone():
            answer = asked(program, route, body, ids)
        passed = answer.status_code not in (401, 403, 404)
        assert passed == (scope in LET_THROUGH[group].split()), (scope, answer.content)


def test_lists_leave_out_what_one_may_not_see(ids: dict[str, str]) -> None:
    """Neither the items nor how many there are."""
    for name in ("nobody", "elsewhere"):
        view = Api(actor(name))
        for path in ("/pipelines", "/deployments"):
            assert view.get(path) == {"items": [], "count": 0}
    seller = Api(user_with("sal", "viewer", folder="sales"))
    for path in ("/pipelines", "/deployments"):
        assert seller.get(path)["count"] == 1


@pytest.mark.parametrize("by_group", [False, True])
@pytest.mark.parametrize("place", ["folder", "pipeline"])
def test_a_role_reaches_as_far_as_it_was_granted(
    place: str, by_group: bool, api: Api, ids: dict[str, str]
) -> None:
    """On one pipeline, or on all of a folder; to a user, or to a group that they are in."""
    other = api.post("/pipelines", {"template": "word-count", "folder": "else"}, 201)
    user = User.objects.create_user("eli")
    holder = {"user": "eli"}
    if by_group:
        user.groups.add(Group.objects.create(name="team"))
        holder = {"group": "team"}
    on = {"folder": "sales"} if place == "folder" else {"pipeline": ids["pipeline_id"]}
    api.post("/grants", {"role": "editor", **holder, **on}, 201)
    mine = Api(user)
    path = f"/pipelines/{ids['pipeline_id']}"
    assert [p["id"] for p in mine.get("/pipelines")["items"]] == [ids["pipeline_id"]]
    mine.put(path, {"revision": 1, "name": "Mine"})
    mine.post(f"/deployments/{ids['deployment_id']}/stop", status=403)
    mine.get(f"/pipelines/{other['id']}", 404)
    # It may make others in its folder, and take this one nowhere else.
    mine.post("/pipelines", {"folder": "sales"}, 201 if place == "folder" else 403)
    mine.post("/pipelines", {}, 403)
    mine.put(path, {"revision": 2, "folder": "else"}, 403)


async def _opens(path: str, user: User) -> bool:
    secret = (await sync_to_async(make_token)(user, "socket"))[1]
    headers = [(b"host", b"testserver"), (b"authorization", f"Bearer {secret}".encode())]
    socket = Watching(application, f"/ws/{path}", headers)
    opened, _ = await socket.connect()
    if opened:
        await socket.disconnect()
    return opened


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ACTORS)
async def test_a_websocket_opens_for_whom_the_table_says(name: str, ids: dict[str, str]) -> None:
    """Another's deployment is closed to whoever may not see it; the list leaves it out."""
    user = await sync_to_async(actor)(name)
    sees = WHO["see"].split()[ACTORS.index(name)] == "ok"
    assert await _opens(f"deployments/{ids['deployment_id']}", user) is sees
    assert await _opens("deployments", user)


# --- The Django admin: who may see, add, change, delete there, if they may come in at all

EVERYONE = {"viewer", "editor", "operator", "admin"}
ADMIN = {"admin"}
NOBODY: set[str] = set()
PAGES = {
    #                               see       add     change  delete
    "pipelines.pipeline":          (EVERYONE, NOBODY, NOBODY, NOBODY),
    "pipelines.version":           (EVERYONE, NOBODY, NOBODY, NOBODY),
    "pipelines.testcase":          (EVERYONE, NOBODY, NOBODY, NOBODY),
    "deployments.deployment":      (EVERYONE, NOBODY, NOBODY, NOBODY),
    "deployments.run":             (EVERYONE, NOBODY, NOBODY, NOBODY),
    "deployments.deployrequest":   (ADMIN,    NOBODY, NOBODY, NOBODY),
    "letters.replay":              (EVERYONE, NOBODY, NOBODY, NOBODY),
    "monitor.metric":              (ADMIN,    NOBODY, NOBODY, NOBODY),
    "monitor.sequence":            (ADMIN,    NOBODY, NOBODY, NOBODY),
    "monitor.leftover":            (ADMIN,    NOBODY, NOBODY, NOBODY),
    "monitor.retention":           (ADMIN,    NOBODY, ADMIN,  NOBODY),
    "connections.connection":      (EVERYONE, ADMIN,  ADMIN,  ADMIN),
    "environments.environment":    (EVERYONE, ADMIN,  ADMIN,  ADMIN),
    "alerts.alertrule":            (EVERYONE, NOBODY, NOBODY, NOBODY),
    "alerts.alert":                (EVERYONE, NOBODY, NOBODY, NOBODY),
    "alerts.silence":              (ADMIN,    NOBODY, NOBODY, NOBODY),
    "alerts.notification":         (ADMIN,    NOBODY, NOBODY, NOBODY),
    "lineage.toldrun":             (ADMIN,    NOBODY, NOBODY, NOBODY),
    "alerts.observation":          (ADMIN,    NOBODY, NOBODY, NOBODY),
    "access.grant":                (ADMIN,    ADMIN,  NOBODY, ADMIN),
    "access.token":                (ADMIN,    NOBODY, NOBODY, NOBODY),
    "access.loginattempt":         (ADMIN,    NOBODY, NOBODY, NOBODY),
    "access.activity":             (ADMIN,    NOBODY, NOBODY, NOBODY),
    "auth.user":                   (ADMIN,    ADMIN,  ADMIN,  ADMIN),
    "auth.group":                  (ADMIN,    ADMIN,  ADMIN,  ADMIN),
}  # fmt: skip


def test_the_table_has_every_page_of_the_admin() -> None:
    """A model that is shown there is in the table."""
    assert {m._meta.label_lower for m in django_admin.site._registry} == PAGES.keys()


@pytest.mark.parametrize("role", ["nobody", "viewer", "editor", "operator", "admin"])
def test_each_role_may_in_the_admin_what_the_table_says(
    role: str, ids: dict[str, str], rf: Any
) -> None:
    """Being staff only opens the door: what is behind it, roles say."""
    user = actor(role)
    user.is_staff = True
    user.save()
    browser = Client()
    browser.force_login(user)
    found = {label: _may_in_admin(label, browser, user, rf) for label in PAGES}
    assert found == {label: tuple(role in may for may in PAGES[label]) for label in PAGES}


def _may_in_admin(label: str, browser: Client, user: User, rf: Any) -> tuple[bool, ...]:
    """Whether the user may see, add, change and delete on the pages of a model."""
    model = apps.get_model(label)
    path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    row = model._default_manager.first() or model()
    request = rf.get(path)
    request.user = user
    page = django_admin.site._registry[model]
    found = (
        browser.get(path).status_code == 200,
        browser.get(f"{path}add/").status_code == 200,
        page.has_change_permission(request, row),
        page.has_delete_permission(request, row),
    )
    if not row._state.adding:
        assert browser.get(f"{path}{row.pk}/change/").status_code == (200 if found[0] else 403)
        assert browser.get(f"{path}{row.pk}/delete/").status_code == (200 if found[3] else 403)
    return found
