"""Roles: who grants them, on what, and what only some may do."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction

from builder.access.models import Activity, Grant
from builder.access.roles import RIGHTS, ROLES, SCOPES
from tests.builder.conftest import Api, user_with

PYTHON: dict[str, Any] = {
    "version": 1,
    "steps": [
        {"id": "orders", "type": "kafka_source",
         "config": {"connection": "local", "topics": ["o"], "format": "text"}},
        {"id": "each", "type": "python_map", "config": {
            "code": "def f(row):\n    return row\n",
            "columns": [{"name": "value", "type": "string"}]}},
        {"id": "out", "type": "kafka_sink", "config": {"connection": "local", "topic": "p"}},
    ],
    "edges": [{"from": "orders", "to": "each"}, {"from": "each", "to": "out"}],
}  # fmt: skip


def test_granted_and_taken_away_again(api: Api, as_user: Any) -> None:
    user = User.objects.create_user("una")
    mine = as_user(user)
    mine.post("/pipelines", {}, 403)
    made = api.post("/grants", {"role": "editor", "user": "una"}, 201)
    assert made["granted_by"] == "ada"
    assert (made["folder"], made["pipeline"]) == (None, None)
    assert mine.get("/me")["roles"] == [{"role": "editor", "folder": None, "pipeline": None}]
    mine.post("/pipelines", {}, 201)
    assert [g["id"] for g in api.get("/grants")["items"]] == [made["id"]]
    api.delete(f"/grants/{made['id']}")
    mine.post("/pipelines", {}, 403)
    assert mine.get("/pipelines")["count"] == 0
    said = Activity.objects.filter(subject="grant").order_by("at")
    assert [(a.verb, a.username) for a in said] == [("grant", "ada"), ("revoke", "ada")]
    assert "the role editor on everything to una" in said[0].message


def test_granting_it_again_changes_nothing(api: Api, viewer: User) -> None:
    pipeline = api.post("/pipelines", {}, 201)["id"]
    for on in ({}, {"folder": "a"}, {"pipeline": pipeline}):
        first, again = (
            api.post("/grants", {"role": "operator", "user": "vic", **on}, 201) for _ in range(2)
        )
        assert first == again
    assert Activity.objects.filter(verb="grant").count() == 3


@pytest.mark.parametrize(
    "asked",
    [
        {"role": "viewer"},
        {"role": "viewer", "user": "vic", "group": "team"},
        {"role": "viewer", "user": "nobody"},
        {"role": "viewer", "group": "nobody"},
        {"role": "king", "user": "vic"},
        {"role": "viewer", "user": "vic", "folder": "a\x01"},
    ],
)
def test_what_makes_no_sense_is_refused(asked: Any, api: Api, viewer: User) -> None:
    Group.objects.create(name="team")
    api.post("/grants", asked, 422)
    assert Grant.objects.count() == 1


def test_on_a_folder_and_a_pipeline_at_once_is_refused(api: Api, viewer: User) -> None:
    pipeline = api.post("/pipelines", {}, 201)["id"]
    asked = {"role": "viewer", "user": "vic", "folder": "a", "pipeline": pipeline}
    api.post("/grants", asked, 422)


def test_the_database_holds_the_same(viewer: User) -> None:
    group = Group.objects.create(name="team")
    for wrong in ({}, {"user": viewer, "group": group}, {"user": viewer}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Grant.objects.create(role="viewer", **wrong)


def test_an_admin_of_a_folder_grants_there_and_nowhere_else(api: Api, as_user: Any) -> None:
    inside = api.post("/pipelines", {"folder": "sales"}, 201)["id"]
    outside = api.post("/pipelines", {}, 201)["id"]
    User.objects.create_user("una")
    mine = as_user(user_with("fay", "admin", folder="sales"))
    asked = {"role": "viewer", "user": "una"}
    made = [
        mine.post("/grants", {**asked, "folder": "sales"}, 201)["id"],
        mine.post("/grants", {**asked, "pipeline": inside}, 201)["id"],
    ]
    mine.post("/grants", asked, 403)
    mine.post("/grants", {**asked, "folder": "other"}, 403)
    mine.post("/grants", {**asked, "pipeline": outside}, 404)
    # Who is there is nobody's business without the right.
    mine.post("/grants", {"role": "viewer", "user": "nobody"}, 403)
    theirs = api.post("/grants", asked, 201)["id"]
    listed = {g["id"] for g in mine.get("/grants")["items"]}
    assert set(made) < listed
    assert theirs not in listed
    mine.delete(f"/grants/{theirs}", 404)
    mine.delete(f"/grants/{made[0]}")


def test_a_grant_goes_with_its_pipeline_and_its_user(api: Api, viewer: User) -> None:
    pipeline = api.post("/pipelines", {}, 201)["id"]
    api.post("/grants", {"role": "editor", "user": "vic", "pipeline": pipeline}, 201)
    api.delete(f"/pipelines/{pipeline}")
    assert [g.role for g in Grant.objects.all()] == ["viewer"]
    viewer.delete()
    assert not Grant.objects.exists()


def test_python_takes_a_right_of_its_own(api: Api, as_user: Any, local: Any) -> None:
    """A graph with a Python step is refused to others at save, at deploy and at every trial."""
    user = user_with("pia", "viewer", "editor", "operator")
    mine = as_user(user)
    theirs = api.post("/pipelines", {"graph": PYTHON}, 201)["id"]
    own = mine.post("/pipelines", {}, 201)["id"]
    version = api.post(f"/pipelines/{theirs}/versions", {}, 201)["number"]
    refused = {
        "/pipelines": {"graph": PYTHON},
        "/pipelines/import": {"graph": PYTHON},
        "/rehearse": {"graph": PYTHON, "rows": {}},
        f"/pipelines/{own}/test-cases/run": {"graph": PYTHON},
    }
    for path, body in refused.items():
        assert "Python" in mine.post(path, body, 403)["detail"]
    mine.put(f"/pipelines/{own}", {"revision": 1, "graph": PYTHON}, 403)
    for asked in ({"pipeline": theirs}, {"pipeline": theirs, "version": version}):
        assert "Python" in mine.post("/deployments", asked, 403)["detail"]
    # Its name is not its code, and who leaves the code as it is has not written it.
    mine.put(f"/pipelines/{theirs}", {"revision": 1, "name": "Theirs"})
    orders, each, out = PYTHON["steps"]
    around = {**PYTHON, "steps": [{**orders, "label": "Orders"}, each, out]}
    mine.put(f"/pipelines/{theirs}", {"revision": 2, "graph": around})
    changed = {**each, "config": {**each["config"], "code": "def f(row):\n    return None\n"}}
    edits = ([orders, changed, out], [orders, each, {**each, "id": "again"}, out])
    for steps in edits:
        mine.put(f"/pipelines/{theirs}", {"revision": 3, "graph": {**PYTHON, "steps": steps}}, 403)

    api.post("/grants", {"role": "author_python", "user": "pia", "pipeline": own}, 201)
    mine.put(f"/pipelines/{own}", {"revision": 1, "graph": PYTHON})
    mine.post("/deployments", {"pipeline": own}, 201)
    mine.post("/deployments", {"pipeline": theirs}, 403)
    mine.post("/rehearse", refused["/rehearse"], 503)  # allowed, but nobody is there to do it


def test_who_may_write_python_may_nothing_else(as_user: Any, api: Api) -> None:
    pipeline = api.post("/pipelines", {}, 201)["id"]
    mine = as_user(user_with("pia", "author_python"))
    mine.get(f"/pipelines/{pipeline}", 404)
    mine.post("/pipelines", {"graph": PYTHON}, 403)


def test_rolling_back_to_python_takes_the_right_too(api: Api, as_user: Any, local: Any) -> None:
    from django.utils import timezone

    from builder.deployments.models import Deployment
    from builder.pipelines.templates import templates

    made = api.post("/pipelines", {"graph": PYTHON}, 201)["id"]
    deployed = api.post("/deployments", {"pipeline": made}, 201)["id"]
    row = Deployment.objects.get(pk=deployed)
    row.runs.create(
        epoch=1, generation=1, version=row.version, started_at=timezone.now(),
        running_at=timezone.now(), ended_at=timezone.now(),
    )  # fmt: skip
    plain = templates()["word-count"]["graph"]
    api.put(f"/pipelines/{made}", {"revision": 1, "graph": plain})
    api.post("/deployments", {"pipeline": made})
    back = f"/deployments/{deployed}/roll-back"
    assert "Python" in as_user(user_with("ole", "operator")).post(back, status=403)["detail"]
    api.post(back)


def test_a_move_to_another_folder_changes_who_sees_it(api: Api, as_user: Any) -> None:
    made = api.post("/pipelines", {"folder": "sales"}, 201)
    assert made["folder"] == "sales"
    path = f"/pipelines/{made['id']}"
    seller = as_user(user_with("sal", "viewer", folder="sales"))
    seller.get(path)
    assert api.put(path, {"revision": 1, "folder": ""})["folder"] == ""
    seller.get(path, 404)
    assert api.get("/pipelines?folder=sales")["count"] == 0
    assert "moved it to no folder" in api.get(f"{path}/activity")["items"][0]["message"]


def test_a_user_without_a_role_sees_and_does_nothing(as_user: Any, api: Api) -> None:
    api.post("/pipelines", {}, 201)
    mine = as_user(User.objects.create_user("una", is_staff=True))
    assert mine.get("/pipelines")["count"] == 0
    me = mine.get("/me")
    assert me["may"] == {
        "pipelines": False, "connections": False, "deployments": False, "admin": True,
    }  # fmt: skip
    assert (me["superuser"], me["roles"]) == (False, [])


def test_the_table_names_roles_and_scopes_that_there_are() -> None:
    for name, right in RIGHTS.items():
        assert right.roles <= set(ROLES), name
        assert right.scopes, name
        assert right.scopes <= set(SCOPES), name
        assert "admin" in right.roles, f"the role admin may {name}"
