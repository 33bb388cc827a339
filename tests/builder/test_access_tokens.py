"""Tokens: what they are for, until when, and who ends them."""

import json
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from builder.access.actions import make_token
from builder.access.models import Token
from tests.builder.conftest import Api

PASSWORD = "a long password"


def with_token(secret: str) -> Api:
    program = Api(None)
    program.headers["Authorization"] = f"Bearer {secret}"
    return program


def asked(**more: Any) -> dict[str, Any]:
    return {"username": "ada", "password": PASSWORD, "name": "nightly", **more}


def test_one_that_says_no_scopes_has_all_and_never_ends(admin: User) -> None:
    program = with_token(Api(None).post("/tokens", asked(), 201)["token"])
    (listed,) = program.get("/tokens")["items"]
    assert listed["scopes"] == ["read", "edit", "operate", "admin"]
    assert listed["expires_at"] is None
    program.post("/pipelines", {}, 201)


def test_one_with_a_scope_says_which_it_lacks(admin: User) -> None:
    made = Api(None).post("/tokens", asked(scopes=["read", "operate"]), 201)
    program = with_token(made["token"])
    assert program.get("/tokens")["items"][0]["scopes"] == ["read", "operate"]
    said = program.post("/pipelines", {}, 403)["detail"]
    assert "token" in said
    assert "scope edit" in said


def test_scopes_that_are_none_are_refused(admin: User) -> None:
    for scopes in ([], ["everything"], "read"):
        Api(None).post("/tokens", asked(scopes=scopes), 422)


def test_it_does_no_more_than_its_user_may(viewer: User) -> None:
    program = Api(None)
    made = program.post("/tokens", {"username": "vic", "password": PASSWORD}, 201)
    with_token(made["token"]).post("/pipelines", {}, 403)


def test_it_ends_when_it_was_said_to(admin: User) -> None:
    soon = (timezone.now() + timedelta(hours=1)).isoformat()
    program = with_token(Api(None).post("/tokens", asked(expires_at=soon), 201)["token"])
    program.get("/pipelines")
    Token.objects.filter(name="nightly").update(expires_at=timezone.now())
    program.get("/pipelines", 401)


def test_one_that_would_have_ended_already_is_not_made(admin: User) -> None:
    before = (timezone.now() - timedelta(seconds=1)).isoformat()
    assert "ended" in Api(None).post("/tokens", asked(expires_at=before), 422)["detail"]
    Api(None).post("/tokens", asked(expires_at="2030-01-01T00:00:00"), 422)
    assert not Token.objects.exists()


def test_one_without_the_scope_ends_no_other(admin: User) -> None:
    other = make_token(admin, "other")[0]
    with_token(make_token(admin, "reader", ["read"])[1]).delete(f"/tokens/{other.pk}", 403)
    with_token(make_token(admin, "admin", ["admin"])[1]).delete(f"/tokens/{other.pk}")
    assert not Token.objects.filter(pk=other.pk).exists()


def test_secrets_are_nowhere_to_be_read(api: Api, admin: User) -> None:
    """Neither a token's secret nor a password comes out by the API, an export or the activity."""
    secret = api.headers["Authorization"].split()[1]
    pipeline = api.post("/pipelines", {"template": "word-count"}, 201)
    paths = ["/me", "/tokens", "/grants", "/pipelines", f"/pipelines/{pipeline['id']}"]
    paths += [f"{paths[-1]}/{part}" for part in ("export", "activity?format=csv", "activity")]
    admin.refresh_from_db()
    digest = Token.objects.get().digest
    for path in paths:
        said = api.call("GET", path).content.decode()
        for kept in (secret, digest, PASSWORD, admin.password):
            assert kept not in said, path
    stored = json.dumps(list(Token.objects.values_list("digest", "name", "scopes")))
    assert secret not in stored
