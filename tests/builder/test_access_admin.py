"""What is written in the Django admin is checked and recorded as everywhere else."""

from typing import Any

import pytest
from django.contrib import admin as django_admin
from django.contrib.auth.models import Group, User
from django.test import Client

from builder.access.models import Activity, Grant
from tests.builder.conftest import user_with

PASSWORD = "a long password"


def browser_of(user: User) -> Client:
    user.is_staff = True
    user.save()
    browser = Client()
    browser.force_login(user)
    return browser


@pytest.fixture
def browser(admin: User) -> Client:
    return browser_of(admin)


@pytest.fixture
def lesser(db: None) -> Client:
    """One with the role admin, who is no superuser."""
    return browser_of(user_with("abe", "admin"))


def change_form(user: User, **changed: Any) -> dict[str, Any]:
    return {
        "username": user.username, "is_active": "on", "date_joined_0": "2026-01-01",
        "date_joined_1": "00:00:00", **changed,
    }  # fmt: skip


def newest() -> tuple[str, str, str, str]:
    line = Activity.objects.latest("at")
    return line.username, line.via, line.verb, line.message


def test_users_are_made_changed_and_deleted(browser: Client) -> None:
    new = {"username": "ned", "password1": "wheel 4 race", "password2": "wheel 4 race"}
    browser.post("/admin/auth/user/add/", new)
    ned = User.objects.get(username="ned")
    assert ned.check_password("wheel 4 race")
    assert newest() == ("ada", "admin", "add", "ada made the user ned")

    group = Group.objects.create(name="team")
    path = f"/admin/auth/user/{ned.pk}"
    browser.post(f"{path}/change/", change_form(ned, first_name="Ned", groups=[group.pk]))
    ned.refresh_from_db()
    assert (ned.first_name, list(ned.groups.all())) == ("Ned", [group])
    assert newest()[3] == "ada put the user ned into team"

    browser.post(f"{path}/password/", {"password1": "mill 5 pond", "password2": "mill 5 pond"})
    ned.refresh_from_db()
    assert ned.check_password("mill 5 pond")
    assert newest()[3] == "ada changed the password of ned"

    browser.post(f"{path}/delete/", {"post": "yes"})
    assert not User.objects.filter(username="ned").exists()
    assert newest() == ("ada", "admin", "delete", "ada deleted the user ned")


def test_one_with_tokens_and_grants_can_be_deleted(browser: Client, viewer: User, api: Any) -> None:
    from builder.access.actions import make_token

    make_token(viewer, "theirs")
    browser.post(f"/admin/auth/user/{viewer.pk}/delete/", {"post": "yes"})
    assert not User.objects.filter(pk=viewer.pk).exists()
    assert not Grant.objects.exists()


def test_groups_are_made_renamed_and_deleted(browser: Client) -> None:
    browser.post("/admin/auth/group/add/", {"name": "team"})
    team = Group.objects.get(name="team")
    assert newest()[3] == "ada made the group team"
    browser.post(f"/admin/auth/group/{team.pk}/change/", {"name": "crew"})
    assert newest()[3] == "ada changed the group crew"
    chosen = {"action": "delete_selected", "_selected_action": team.pk, "post": "yes"}
    browser.post("/admin/auth/group/", chosen)
    assert not Group.objects.exists()
    assert newest()[3] == "ada deleted the group crew"


def test_roles_are_granted_and_taken_away(browser: Client, viewer: User) -> None:
    browser.post("/admin/access/grant/add/", {"role": "editor", "user": viewer.pk, "folder": "a"})
    grant = Grant.objects.get(role="editor")
    assert (grant.user, grant.folder, str(grant.granted_by)) == (viewer, "a", "ada")
    assert newest() == (
        "ada", "admin", "grant", "ada granted the role editor on the folder a to vic",
    )  # fmt: skip
    wrong = browser.post("/admin/access/grant/add/", {"role": "editor"})
    assert "Choose a user or a group" in wrong.content.decode()
    browser.post(f"/admin/access/grant/{grant.pk}/delete/", {"post": "yes"})
    assert newest()[2] == "revoke"
    assert not Grant.objects.filter(pk=grant.pk).exists()


def test_ones_own_password(lesser: Client) -> None:
    given = {
        "old_password": PASSWORD, "new_password1": "wheel 4 race", "new_password2": "wheel 4 race",
    }  # fmt: skip
    page = "/admin/password_change/"
    assert lesser.get(page).status_code == 200
    lesser.post(page, {**given, "old_password": "wrong"})
    abe = User.objects.get(username="abe")
    assert abe.check_password(PASSWORD)
    assert lesser.post(page, given).status_code == 302
    abe.refresh_from_db()
    assert abe.check_password("wheel 4 race")
    assert newest()[3] == "abe changed the password of abe"
    assert lesser.get("/admin/").status_code == 200, "this session goes on"


def test_nobody_makes_themselves_a_superuser(lesser: Client, admin: User) -> None:
    abe = User.objects.get(username="abe")
    lesser.post(
        f"/admin/auth/user/{abe.pk}/change/", change_form(abe, is_superuser="on", is_staff="on")
    )
    abe.refresh_from_db()
    assert not abe.is_superuser
    before = Activity.objects.count()
    path = f"/admin/auth/user/{admin.pk}"
    told = lesser.post(f"{path}/change/", change_form(admin, first_name="X"), follow=True)
    assert "Only a superuser" in told.content.decode()
    lesser.post(f"{path}/password/", {"password1": "mill 5 pond", "password2": "mill 5 pond"})
    lesser.post(f"{path}/delete/", {"post": "yes"})
    admin.refresh_from_db()
    assert admin.first_name == ""
    assert admin.check_password(PASSWORD)
    assert Activity.objects.count() == before


def test_a_refusal_is_told_and_changes_nothing(api: Any, local: Any) -> None:
    """An operator of one folder may not stop what lies in another, by no door."""
    made = api.post("/pipelines", {"template": "word-count"}, 201)
    deployment = api.post("/deployments", {"pipeline": made["id"]}, 201)
    operator = browser_of(user_with("ole", "operator", folder="other"))
    chosen = {"action": "stop", "_selected_action": deployment["id"]}
    assert operator.post("/admin/deployments/deployment/", chosen).status_code == 403
    assert api.get(f"/deployments/{deployment['id']}")["desired"] == "running"


def test_every_page_that_writes_does_so_by_an_action(admin: User, rf: Any) -> None:
    """Saving and deleting as Django does by itself would be neither checked nor recorded."""
    from django.contrib.admin import ModelAdmin

    request = rf.get("/admin/")
    request.user = admin
    for model, page in django_admin.site._registry.items():
        writes = page.has_add_permission(request) or page.has_change_permission(request)
        if writes:
            assert type(page).save_model is not ModelAdmin.save_model, model
        if page.has_delete_permission(request):
            for method in ("delete_model", "delete_queryset"):
                own = getattr(type(page), method)
                assert own is not getattr(ModelAdmin, method), (model, method)
