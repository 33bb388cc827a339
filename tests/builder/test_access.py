"""Who gets in, and who may do what."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from builder.access.models import Activity, Token
from builder.pipelines.models import Pipeline

PASSWORD = "a long password"


class Browser:
    """A browser: cookies, and a CSRF token where it has one."""

    def __init__(self) -> None:
        self.client = Client(enforce_csrf_checks=True)

    def call(self, method: str, path: str, body: Any = None, csrf: bool = True) -> Any:
        cookie = self.client.cookies.get("csrftoken")
        headers = {"X-CSRFToken": cookie.value} if csrf and cookie else {}
        data = b"" if body is None else json.dumps(body).encode()
        return self.client.generic(
            method, f"/api{path}", data, content_type="application/json", headers=headers
        )

    def log_in(self, user: User) -> Any:
        return self.call("POST", "/login", {"username": user.username, "password": PASSWORD})


def test_a_browser_logs_in_and_out(admin: User) -> None:
    browser = Browser()
    stranger = browser.call("GET", "/me")
    assert stranger.status_code == 401
    assert stranger.headers["Content-Type"] == "application/problem+json"
    assert "csrftoken" in browser.client.cookies
    assert browser.log_in(admin).status_code == 200
    me = browser.call("GET", "/me").json()
    assert me["username"] == "ada"
    assert me["may"] == {
        "pipelines": True, "connections": True, "deployments": True, "admin": True,
    }  # fmt: skip
    assert browser.call("POST", "/pipelines", {"name": "x"}).status_code == 201
    assert browser.call("POST", "/logout").status_code == 204
    assert browser.call("GET", "/me").status_code == 401
    assert browser.call("GET", "/pipelines").status_code == 401


def test_a_wrong_password_says_no_more_than_needed(admin: User) -> None:
    browser = Browser()
    for name, password in (("ada", "wrong"), ("nobody", "wrong")):
        answer = browser.call("POST", "/login", {"username": name, "password": password})
        assert answer.status_code == 401
        assert answer.json()["detail"] == "There is no such user, or the password is another."


def test_a_session_needs_its_csrf_token(admin: User) -> None:
    """A write without a CSRF token, or with an old one, is refused."""
    browser = Browser()
    browser.log_in(admin)
    assert browser.call("POST", "/pipelines", {"name": "x"}, csrf=False).status_code == 403
    assert not Pipeline.objects.exists()
    browser.client.cookies["csrftoken"] = "0" * 32
    old = browser.client.generic(
        "POST", "/api/pipelines", b"{}", content_type="application/json",
        headers={"X-CSRFToken": "1" * 32},
    )  # fmt: skip
    assert old.status_code == 403
    assert old.headers["Content-Type"] == "application/problem+json"


def test_a_stranger_is_told_to_log_in(as_user: Callable[..., Any]) -> None:
    for method, path in (("GET", "/pipelines"), ("POST", "/pipelines"), ("GET", "/step-types")):
        assert as_user(None).call(method, path).status_code == 401


def test_tokens_are_kept_hashed_listed_and_revocable(admin: User, as_user: Any) -> None:
    stranger = as_user(None)
    asked = {"username": "ada", "password": PASSWORD, "name": "nightly"}
    made = stranger.post("/tokens", asked, 201)
    assert made["token"] not in json.dumps(list(Token.objects.values_list("digest", "name")))
    stranger.headers["Authorization"] = f"Bearer {made['token']}"
    listed = stranger.get("/tokens")
    assert [(t["name"], t["id"]) for t in listed["items"]] == [("nightly", made["id"])]
    assert "token" not in listed["items"][0]
    assert listed["items"][0]["used_at"] is not None
    stranger.delete(f"/tokens/{made['id']}")
    stranger.get("/tokens", 401)
    stranger.post("/pipelines", {"name": "x"}, 401)


def test_a_wrong_token_is_no_session(as_user: Any) -> None:
    stranger = as_user(None)
    stranger.headers["Authorization"] = "Bearer hr_nothing"
    stranger.post("/pipelines", {"name": "x"}, 401)
    stranger.post("/tokens", {"username": "ada", "password": "wrong"}, 401)


def test_one_does_not_see_others_tokens(admin: User, viewer: User, as_user: Any) -> None:
    mine, theirs = as_user(viewer), as_user(admin)
    id_ = theirs.get("/tokens")["items"][0]["id"]
    assert id_ not in [t["id"] for t in mine.get("/tokens")["items"]]
    mine.delete(f"/tokens/{id_}", 404)
    assert Token.objects.filter(pk=id_).exists()


def test_a_user_who_is_switched_off_is_a_stranger(viewer: User, as_user: Any) -> None:
    api = as_user(viewer)
    api.get("/pipelines")
    User.objects.filter(pk=viewer.pk).update(is_active=False)
    api.get("/pipelines", 401)


WRITES = [
    ("POST", "/pipelines", {"name": "x"}),
    ("POST", "/pipelines/import", {"graph": {"version": 1, "steps": [], "edges": []}}),
    ("PUT", "/pipelines/{pipeline}", {"revision": 1, "name": "y"}),
    ("DELETE", "/pipelines/{pipeline}", None),
    ("POST", "/pipelines/{pipeline}/versions", {}),
    ("POST", "/connections", {"name": "other", "bootstrap_servers": "a:1"}),
    ("PUT", "/connections/{connection}", {"name": "other", "bootstrap_servers": "a:1"}),
    ("DELETE", "/connections/{connection}", None),
    ("POST", "/connections/{connection}/test", None),
    ("POST", "/connections/{connection}/topics", {"topic": "x"}),
    ("POST", "/deployments", {"pipeline": "{pipeline}"}),
    ("POST", "/deployments/{deployment}/stop", None),
    ("POST", "/deployments/{deployment}/start", None),
    ("POST", "/deployments/{deployment}/restart", None),
]


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
def test_a_viewer_writes_nothing(
    method: str, path: str, body: Any, api: Any, viewer: User, as_user: Any, local: Any
) -> None:
    pipeline = api.post("/pipelines", {"template": "word-count"}, 201)
    deployment = api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    ids = {
        "{pipeline}": pipeline["id"],
        "{connection}": str(local.pk),
        "{deployment}": deployment["id"],
    }
    before = Activity.objects.count()
    text = json.dumps(body)
    for name, id_ in ids.items():
        path, text = path.replace(name, id_), text.replace(name, id_)
    response = as_user(viewer).call(method, path, json.loads(text))
    assert response.status_code == 403, response.content
    assert "administrator" in response.json()["detail"]
    assert Activity.objects.count() == before + 1  # the token of the viewer


def test_a_viewer_sees_everything(api: Any, viewer: User, as_user: Any, local: Any) -> None:
    pipeline = api.post("/pipelines", {"template": "word-count"}, 201)
    deployment = api.post("/deployments", {"pipeline": pipeline["id"]}, 201)
    view = as_user(viewer)
    for path in (
        "/pipelines",
        f"/pipelines/{pipeline['id']}",
        f"/pipelines/{pipeline['id']}/plan",
        "/connections",
        f"/connections/{local.pk}",
        "/deployments",
        f"/deployments/{deployment['id']}",
        f"/deployments/{deployment['id']}/metrics",
        f"/deployments/{deployment['id']}/logs",
        f"/deployments/{deployment['id']}/activity",
        "/step-types",
        "/templates",
    ):
        view.get(path)
    assert not any(view.get("/me")["may"].values())


def test_an_editor_draws_and_no_more(editor: User, as_user: Any, local: Any) -> None:
    api = as_user(editor)
    pipeline = api.post("/pipelines", {"template": "word-count"}, 201)
    api.put(f"/pipelines/{pipeline['id']}", {"revision": 1, "name": "Mine"})
    api.post("/deployments", {"pipeline": pipeline["id"]}, 403)
    assert api.get("/me")["may"] == {
        "pipelines": True, "connections": False, "deployments": False, "admin": False,
    }  # fmt: skip
    api.delete(f"/pipelines/{pipeline['id']}")


def test_the_first_start_makes_an_administrator_once(settings: Any, capsys: Any) -> None:
    from django.core.management import call_command

    call_command("prepare")
    said = capsys.readouterr().out
    password = said.split("password ")[1].split(" ")[0]
    assert User.objects.get(username="admin").check_password(password)
    call_command("prepare")
    assert capsys.readouterr().out == ""
    assert User.objects.count() == 1


def test_the_local_connection_follows_the_broker(settings: Any, api: Any) -> None:
    from django.core.management import call_command

    for servers in ("127.0.0.1:9092", "127.0.0.1:9093", "127.0.0.1:9093"):
        settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"kafka": servers})
        call_command("prepare")
        (local,) = api.get("/connections")["items"]
        assert (local["name"], local["bootstrap_servers"]) == ("local", servers)


def test_the_secret_key_is_made_once_and_private(data_folder: Any, settings: Any) -> None:
    path = data_folder / "secret_key"
    assert path.read_text() == settings.SECRET_KEY
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(settings.SECRET_KEY) > 50
